#!/bin/sh
# deb.sh PROGRAMS ARCHITECTURE VERSION FILE: builds the Debian package FILE of the programs in the folder PROGRAMS.
# The units are installed and not started: a cluster must be described, and a domain chosen, first.
set -eu
programs=$1 architecture=$2 version=$3 file=$4
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

install -D -m 755 -t "$root/usr/bin" "$programs/ashlar" "$programs/ashlard" "$programs/mailboat"
install -D -m 644 -t "$root/usr/lib/systemd/system" "$here/ashlard.service" "$here/mailboat.service"
install -D -m 644 "$here/sysusers.conf" "$root/usr/lib/sysusers.d/ashlar.conf"
install -D -m 644 -t "$root/etc/ashlard" "$here/ashlard.toml"
install -D -m 644 "$here/mailboat.default" "$root/etc/default/mailboat"
install -D -m 644 -t "$root/usr/share/doc/ashlar" "$here/../README.md" "$here/../CHANGELOG.md" "$here/../docs/worm.md" "$here/../docs/mail.md"
install -D -m 644 "$here/../LICENSE" "$root/usr/share/doc/ashlar/copyright"

mkdir "$root/DEBIAN"
printf '/etc/ashlard/ashlard.toml\n/etc/default/mailboat\n' >"$root/DEBIAN/conffiles"
cat >"$root/DEBIAN/control" <<END
Package: ashlar
Version: $version
Architecture: $architecture
Section: devel
Priority: optional
Maintainer: The Ashlar authors <ashlar@users.noreply.github.com>
Depends: systemd
Description: design, check, prove and run distributed and storage systems
 The tool ashlar checks specifications in TLA+ and Modular PlusCal, compiles them to
 Go, and scales protocols that are written as rules. The server ashlard replicates
 write-once registers; the server mailboat receives and delivers mail.
END
cat >"$root/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ]; then
    systemd-sysusers ashlar.conf
    for user in ashlard mailboat; do install -d -o "$user" -g "$user" -m 700 "/var/lib/$user"; done
    if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
fi
END
cat >"$root/DEBIAN/prerm" <<'END'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now ashlard.service mailboat.service || true; fi
END
chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/prerm"
dpkg-deb --root-owner-group -Zgzip --build "$root" "$file" >/dev/null
