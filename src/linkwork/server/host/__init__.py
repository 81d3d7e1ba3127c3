"""The studio's session side: runs scenes and answers what the server passes on from browsers."""
