package mariadb

// FindGalera looks for all that a cluster needs.
var FindGalera = findGalera
