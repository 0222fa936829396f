"""Pictures that tasks are made of: photographs that ship in packages, drawn scenes and documents, and distortions."""
