"""The studio's session side: runs scenes and answers the requests that the server relays."""
