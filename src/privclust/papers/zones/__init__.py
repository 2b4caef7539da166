"""k-means with convergent zones: Joshi and Thakkar (2022), after Lu and Shen (2021).

``KMeansGuarantee`` and ``SubclusterGuarantee`` are the algorithms as published, NOT PRIVATE;
``PrivateZoneKMeans`` is their private repair.
"""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
