/**
 * Makes a package of Debian from the tarball of the product: the bundle, its packages and Node, which Debian does not
 * have in this version, below /usr/lib/countersign. Its architecture is that of this machine.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from './bundle.ts';
import { places } from './packed.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const NODE = `node_modules/node-linux-${process.arch}`;
const HOME = '/usr/lib/countersign';

/** Commands find the configuration, the secret and the data of the service, as in the image. */
const PROGRAM = `#!/bin/sh
export COUNTERSIGN_CONFIG="\${COUNTERSIGN_CONFIG-/etc/countersign/countersign.json}"
export COUNTERSIGN_DATA="\${COUNTERSIGN_DATA-/var/lib/countersign}"
[ -n "$COUNTERSIGN_SECRET" ] || export COUNTERSIGN_SECRET_FILE="\${COUNTERSIGN_SECRET_FILE-/etc/countersign/secret}"
# Without a folder of its own, root would keep compiled code among the files of the package.
export NODE_COMPILE_CACHE="\${NODE_COMPILE_CACHE-}"
# Files of the data folder must belong to the user of the service, and this user may have made any link there.
[ "$(id -u)" != 0 ] || [ "$COUNTERSIGN_DATA" != /var/lib/countersign ] || as="runuser -u countersign --"
exec $as ${HOME}/${NODE}/bin/node ${HOME}/shared/cli/countersign.js "$@"
`;

/** Development on loopback. The service does not start before the operator has set the origins. */
const CONFIGURATION = { issuer: 'http://localhost:3000', resource: 'http://localhost:3001' };

const POSTINST = `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  getent passwd countersign > /dev/null ||
    useradd --system --user-group --home-dir /var/lib/countersign --no-create-home --shell /usr/sbin/nologin countersign
  install -d -o countersign -g countersign -m 0700 /var/lib/countersign
  # The configuration may hold passwords of databases.
  chown root:countersign /etc/countersign/countersign.json
  chmod 0640 /etc/countersign/countersign.json
  if [ ! -e /etc/countersign/secret ]; then
    (umask 277; head -c 32 /dev/urandom | base64 > /etc/countersign/secret.new)
    chown countersign: /etc/countersign/secret.new
    mv /etc/countersign/secret.new /etc/countersign/secret
  fi
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    [ ! -e /run/countersign.restart ] || systemctl start countersign || true
    rm -f /run/countersign.restart
  fi
fi
`;

const PRERM = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
  case "$1" in
    remove) systemctl disable --now countersign ;;
    # Running servers would load new files beside old ones. The new package starts the service again.
    upgrade) systemctl is-active --quiet countersign && touch /run/countersign.restart && systemctl stop countersign || true ;;
  esac
fi
`;

const POSTRM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
if [ "$1" = purge ]; then
  rm -rf /var/lib/countersign /var/cache/countersign /etc/countersign
fi
`;

/** Returns the path of the package. */
export function packDebian(tarball: string, destination: string): string {
  const stage = mkdtempSync(join(tmpdir(), 'countersign-debian-'));
  const put = (path: string, content: string, mode = 0o644) => {
    const at = join(stage, path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, content);
    chmodSync(at, mode);
  };
  try {
    const home = join(stage, HOME);
    mkdirSync(home, { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '-C', home, '--strip-components=1', '--no-same-owner']);
    copyPackages(home);
    put('usr/bin/countersign', PROGRAM, 0o755);
    put('etc/countersign/countersign.json', `${JSON.stringify(CONFIGURATION, null, 2)}\n`);
    const unit = readFileSync(join(home, 'docs/how-to/systemd/countersign.service'), 'utf8');
    const started = unit.replace(/^ExecStart=.*/m, 'ExecStart=/usr/bin/countersign start');
    put('usr/lib/systemd/system/countersign.service', started);
    const license = readFileSync(join(home, 'LICENSE'), 'utf8');
    const others = `The licenses of Node and of the packages are below ${HOME}/node_modules.`;
    put('usr/share/doc/countersign/copyright', `${others}\n\n${license}`);
    const text = readFileSync(join(home, 'package.json'), 'utf8');
    const { version, description } = JSON.parse(text) as Readonly<Record<string, string>>;
    put('DEBIAN/control', controlOf({ version, description }));
    put('DEBIAN/conffiles', '/etc/countersign/countersign.json\n');
    put('DEBIAN/postinst', POSTINST, 0o755);
    put('DEBIAN/prerm', PRERM, 0o755);
    put('DEBIAN/postrm', POSTRM, 0o755);
    // Whatever the umask of this process is.
    execFileSync('chmod', ['-R', 'u=rwX,go=rX', stage]);
    // Node is 150 MB: gzip and xz take minutes of CPU time for a tenth of the size.
    const build = ['--root-owner-group', '-Zzstd', '-z3', '--build', stage, destination];
    const said = execFileSync('dpkg-deb', build, { encoding: 'utf8' });
    return /'([^']+\.deb)'/.exec(said)?.[1] ?? '';
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/** Copies the packages that `npm ci` has installed here and that the product needs. */
function copyPackages(home: string): void {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  for (const [path, { dev = false }] of Object.entries(lock.packages)) {
    const isAtTop = path.lastIndexOf('node_modules/') === 0;
    if (dev || !isAtTop || !existsSync(join(ROOT, path))) continue;
    cpSync(join(ROOT, path), join(home, path), {
      recursive: true,
      // Headers and manuals of Node.
      filter: (from) => !/\/node-linux-\w+\/(?:include|share)$/.test(from),
    });
  }
}

/** In the order of Debian, 1.0.0~rc.1 is before 1.0.0. */
function controlOf({ version = '', description = '' }): string {
  const { homepage } = places();
  return [
    'Package: countersign',
    `Version: ${version.replace('-', '~')}`,
    `Architecture: ${ARCHITECTURES[process.arch]}`,
    'Maintainer: The developers of Countersign',
    'Depends: libatomic1, libc6 (>= 2.28), libgcc-s1, libstdc++6, passwd',
    'Section: net',
    'Priority: optional',
    ...(homepage === undefined ? [] : [`Homepage: ${homepage}`]),
    `Description: ${description}`,
    '',
  ].join('\n');
}
