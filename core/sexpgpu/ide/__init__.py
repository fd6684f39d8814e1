"""What an editor, or a reader without one, is shown of an analysis: plain data in editors' words, without protocol types.

`bindings` lists the types of everything that is bound.
"""
