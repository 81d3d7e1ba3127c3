"""Writes small STEP files (ISO 10303-21, AP214): assemblies of boxes in millimeters."""

from __future__ import annotations

HEAD = """ISO-10303-21;
HEADER;
FILE_DESCRIPTION(('boxes'),'2;1');
FILE_NAME('boxes.step','2026-01-01T00:00:00',(''),(''),'','','');
FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));
ENDSEC;
DATA;
"""


class StepFile:
    """The entities of a file."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.context = self.add("APPLICATION_CONTEXT('mechanical design')")
        self.add(f"APPLICATION_PROTOCOL_DEFINITION('is','automotive_design',2000,{self.context})")
        length = self.add("(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.))")
        angle = self.add("(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.))")
        solid = self.add("(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT())")
        accuracy = self.add(
            f"UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-07),{length},'a','b')"
        )
        self.units = self.add(
            "(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT("
            f"({accuracy}))GLOBAL_UNIT_ASSIGNED_CONTEXT(({length},{angle},{solid}))"
            "REPRESENTATION_CONTEXT('c','3D'))"
        )

    def add(self, text: str) -> str:
        """Adds an entity and returns its number."""
        self.lines.append(f"#{len(self.lines) + 1}={text};")
        return f"#{len(self.lines)}"

    def text(self) -> str:
        """The whole file."""
        return HEAD + "\n".join(self.lines) + "\nENDSEC;\nEND-ISO-10303-21;\n"

    def point(self, xyz: tuple[float, ...]) -> str:
        """A point."""
        return self.add(f"CARTESIAN_POINT('',({','.join(f'{c:.6f}' for c in xyz)}))")

    def direction(self, xyz: tuple[float, ...]) -> str:
        """A direction."""
        return self.add(f"DIRECTION('',({','.join(f'{c:.6f}' for c in xyz)}))")

    def frame(self, xyz: tuple[float, ...], z: tuple = (0, 0, 1), x: tuple = (1, 0, 0)) -> str:
        """A placement."""
        return self.add(
            f"AXIS2_PLACEMENT_3D('',{self.point(xyz)},{self.direction(z)},{self.direction(x)})"
        )

    def box(self, name: str, x: float, y: float, z: float) -> tuple[str, str]:
        """A product with a box about the origin; its definition and its representation."""
        corners = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
        positions = [((i - 0.5) * x, (j - 0.5) * y, (k - 0.5) * z) for i, j, k in corners]
        vertices = [self.add(f"VERTEX_POINT('',{self.point(p)})") for p in positions]
        edges: dict[tuple[int, int], str] = {}

        def edge(a: int, b: int) -> str:
            if (b, a) in edges:
                return self.add(f"ORIENTED_EDGE('',*,*,{edges[b, a]},.F.)")
            if (a, b) not in edges:
                way = tuple(q - p for p, q in zip(positions[a], positions[b], strict=True))
                size = sum(c * c for c in way) ** 0.5
                along = self.direction(tuple(c / size for c in way))
                vector = self.add(f"VECTOR('',{along},1.)")
                line = self.add(f"LINE('',{self.point(positions[a])},{vector})")
                edges[a, b] = self.add(f"EDGE_CURVE('',{vertices[a]},{vertices[b]},{line},.T.)")
            return self.add(f"ORIENTED_EDGE('',*,*,{edges[a, b]},.T.)")

        faces = []
        quads = {
            (0, 1, 3, 2): (-1, 0, 0), (4, 6, 7, 5): (1, 0, 0), (0, 4, 5, 1): (0, -1, 0),
            (2, 3, 7, 6): (0, 1, 0), (0, 2, 6, 4): (0, 0, -1), (1, 5, 7, 3): (0, 0, 1),
        }  # fmt: skip
        for quad, normal in quads.items():
            ring = [edge(quad[n], quad[(n + 1) % 4]) for n in range(4)]
            loop = self.add(f"EDGE_LOOP('',({','.join(ring)}))")
            bound = self.add(f"FACE_OUTER_BOUND('',{loop},.T.)")
            across = (0, 0, 1) if normal[2] == 0 else (1, 0, 0)
            plane = self.add(f"PLANE('',{self.frame(positions[quad[0]], normal, across)})")
            faces.append(self.add(f"ADVANCED_FACE('',({bound}),{plane},.T.)"))
        shell = self.add(f"CLOSED_SHELL('',({','.join(faces)}))")
        solid = self.add(f"MANIFOLD_SOLID_BREP('{name}',{shell})")
        shape = self.add(
            f"ADVANCED_BREP_SHAPE_REPRESENTATION('',({self.frame((0, 0, 0))},{solid}),{self.units})"
        )
        return self.product(name, shape), shape

    def product(self, name: str, shape: str) -> str:
        """A product that has a shape; its definition."""
        around = self.add(f"PRODUCT_CONTEXT('',{self.context},'mechanical')")
        product = self.add(f"PRODUCT('{name}','{name}','',({around}))")
        self.add(f"PRODUCT_RELATED_PRODUCT_CATEGORY('part',$,({product}))")
        formation = self.add(f"PRODUCT_DEFINITION_FORMATION('','',{product})")
        stage = self.add(f"PRODUCT_DEFINITION_CONTEXT('part definition',{self.context},'design')")
        made = self.add(f"PRODUCT_DEFINITION('design','',{formation},{stage})")
        has = self.add(f"PRODUCT_DEFINITION_SHAPE('','',{made})")
        self.add(f"SHAPE_DEFINITION_REPRESENTATION({has},{shape})")
        return made


def assembly(name: str, boxes: dict[str, tuple[tuple, tuple]]) -> str:
    """An assembly of boxes, each with its size and place [mm]."""
    file = StepFile()
    inner = {each: file.box(each, *size) for each, (size, _) in boxes.items()}
    origin = file.frame((0, 0, 0))
    frames = {each: file.frame(place) for each, (_, place) in boxes.items()}
    whole = file.add(
        f"SHAPE_REPRESENTATION('',({','.join([origin, *frames.values()])}),{file.units})"
    )
    top = file.product(name, whole)
    for each, (made, shape) in inner.items():
        use = file.add(f"NEXT_ASSEMBLY_USAGE_OCCURRENCE('{each}','{each}','',{top},{made},$)")
        has = file.add(f"PRODUCT_DEFINITION_SHAPE('','',{use})")
        moved = file.add(f"ITEM_DEFINED_TRANSFORMATION('','',{origin},{frames[each]})")
        relation = file.add(
            f"(REPRESENTATION_RELATIONSHIP('','',{shape},{whole})"
            f"REPRESENTATION_RELATIONSHIP_WITH_TRANSFORMATION({moved})"
            "SHAPE_REPRESENTATION_RELATIONSHIP())"
        )
        file.add(f"CONTEXT_DEPENDENT_SHAPE_REPRESENTATION({relation},{has})")
    return file.text()
