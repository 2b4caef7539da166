from privclust.papers.zones.private import PrivateZoneKMeans as PrivateZoneKMeans
from privclust.papers.zones.published import KMeansGuarantee as KMeansGuarantee
from privclust.papers.zones.published import SubclusterGuarantee as SubclusterGuarantee
