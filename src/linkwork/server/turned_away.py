"""Turned away: the page that people see whom the studio does not let in, and what to do then."""

from __future__ import annotations

from html import escape

from starlette.responses import HTMLResponse

_STYLE = """
:root { color-scheme: light dark; font: 14px/20px system-ui, sans-serif; }
body { display: grid; place-content: center; min-height: 90vh; margin: 0 24px;
  background: light-dark(#fafbfc, #16191d); color: light-dark(#1a1e23, #e6e9ed); }
main { max-width: 460px; }
h1 { font-size: 16px; line-height: 24px; margin: 0 0 8px; }
p { color: light-dark(#4a545f, #a9b1bb); margin: 0 0 16px; }
code { font-family: ui-monospace, monospace; }
form { display: flex; gap: 8px; align-items: end; }
label { display: grid; gap: 4px; flex: 1; }
input { font: inherit; height: 28px; padding: 0 8px; border: 0; border-radius: 3px;
  border-bottom: 1px solid light-dark(#7f8994, #67717c);
  background: light-dark(#eef1f4, #20252b); color: inherit; }
button { font: inherit; height: 28px; padding: 0 12px; border: 0; border-radius: 5px;
  background: light-dark(#007586, #3cc3d6); color: light-dark(#fff, #04191d); }
:focus-visible { outline: 2px solid light-dark(#007586, #3cc3d6); outline-offset: 1px; }
"""
_FORM = """<form method="get" action="/">
<label>Token <input name="token" required autofocus autocomplete="off" spellcheck="false"></label>
<button>Open the studio</button></form>"""
#: What to do about each reason.
_TOKEN = (
    "The terminal where <code>linkwork studio</code> runs shows the whole address, with "
    "<code>?token=</code> and the token at its end. A studio that was started anew has a new "
    "token, unless it was given one with <code>--token</code>."
)
_SITE = (
    "Open the address that <code>linkwork studio</code> printed. To reach the studio from other "
    "machines or by another name, start it with <code>--host</code>."
)


def turned_away(reason: str, *, token: bool) -> HTMLResponse:
    """A page that says why somebody is not let in.

    Args:
        reason: Why, in a sentence.
        token: Whether the token is what is wrong; then it can be typed in.
    """
    help_, form = (_TOKEN, _FORM) if token else (_SITE, "")
    heading = escape(reason[:1].upper() + reason[1:])
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Linkwork Studio</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style><main><h1>{heading}</h1><p>{help_}</p>{form}</main></html>"
    )
    return HTMLResponse(page, status_code=403, headers={"cache-control": "no-store"})
