import { command, type Installable } from '#shared/auth/schemes/negotiate/debian.ts';

/** A program that tests start, and the packages that contain it. */
export interface TestPart extends Installable {
  /** The name of its file, as the modules that start it declare it (`@needs`). */
  readonly program: string;
}

const program = (name: string, ...packages: readonly string[]): TestPart => ({
  program: name,
  check: command(name),
  packages,
});

const python = (module: string, ...packages: readonly string[]): TestPart => ({
  program: 'python3',
  check: `/usr/bin/python3 -c "import ${module}"`,
  packages,
});

/** The addon of `npm run kerberos` needs this program at run time. */
export const KDC = 'krb5kdc';

export const PARTS: readonly TestPart[] = [
  program('redis-server', 'redis-server'),
  // A test that uses redis-cli has started a Redis.
  { program: 'redis-cli', check: command('redis-server'), packages: ['redis-server'] },
  program('redis-cli', 'redis-tools'),
  program('redis-sentinel', 'redis-sentinel'),
  // A test that uses `psql` has started a server, whose programs are not in PATH.
  {
    program: 'psql',
    check: `${command('psql')} && test -x /usr/lib/postgresql/15/bin/initdb`,
    packages: ['postgresql-15'],
  },
  program('nginx', 'nginx-light'),
  program('haproxy', 'haproxy'),
  program('systemd-analyze', 'systemd'),
  program('caddy', 'caddy'),
  program('varnishd', 'varnish'),
  {
    program: 'apache2',
    check: 'test -e /usr/lib/apache2/modules/mod_auth_openidc.so',
    packages: ['libapache2-mod-auth-openidc'],
  },
  {
    program: 'apache2',
    check: 'test -e /usr/lib/apache2/modules/mod_oauth2.so',
    packages: ['libapache2-mod-oauth2'],
  },
  // Compiles the library that makes file calls fail.
  { program: 'gcc', check: command('gcc'), packages: ['gcc', 'libc6-dev'] },
  program('curl', 'curl'),
  program('script', 'bsdutils'),
  program('zsh', 'zsh'),
  program('fish', 'fish'),
  program('wget', 'wget'),
  program('wget2', 'wget2'),
  program('http', 'httpie'),
  program('lynx', 'lynx'),
  program('elinks', 'elinks'),
  program('aria2c', 'aria2'),
  // Nghttp is one of the few clients that accept server push.
  program('nghttp', 'nghttp2-client'),
  program('openssl', 'openssl'),
  program('chromium-headless-shell', 'chromium-headless-shell'),
  // The headless shell waits forever if a proxy refuses its password, so the full browser is needed too.
  program('chromium', 'chromium'),
  // Firefox serves as another browser for the pages without script.
  program('firefox-esr', 'firefox-esr'),
  program('oidc-agent', 'oidc-agent-cli'),
  program('litmus', 'litmus'),
  program('cadaver', 'cadaver'),
  program('rclone', 'rclone'),
  program('mount.davfs', 'davfs2'),
  program('git-annex', 'git-annex'),
  // The program `dbus-run-session` runs `gio`, which uses gvfs.
  program('dbus-run-session', 'dbus'),
  { program: 'dbus-run-session', check: command('gio'), packages: ['libglib2.0-bin'] },
  {
    program: 'dbus-run-session',
    check: 'test -x /usr/libexec/gvfsd-dav',
    packages: ['gvfs-backends'],
  },
  program('exim4', 'exim4-daemon-light'),
  program('gsasl', 'gsasl'),
  { program: 'perl', check: 'perl -MLWP::UserAgent -e 1', packages: ['libwww-perl'] },
  // Debian's JRE includes the compiler that runs a source file directly.
  program('java', 'default-jre-headless'),
  {
    program: 'java',
    check: 'test -e /usr/share/java/httpclient.jar -a -e /usr/share/java/httpclient5.jar',
    packages: ['libhttpclient-java', 'libhttpclient5-java'],
  },
  program('prometheus', 'prometheus'),
  program('promtool', 'prometheus'),
  program('duplicity', 'duplicity'),
  // Build the image, and run it in a network of its own.
  program('buildah', 'buildah'),
  program('mmdebstrap', 'mmdebstrap'),
  program('ip', 'iproute2'),
  program(KDC, 'krb5-kdc'),
  program('kadmin.local', 'krb5-admin-server'),
  program('kinit', 'krb5-user'),
  python('authlib, requests', 'python3-authlib', 'python3-requests'),
  python('requests_oauthlib', 'python3-requests-oauthlib'),
  python('requests_kerberos', 'python3-requests-kerberos'),
  python('httpx', 'python3-httpx'),
  python('cryptography', 'python3-cryptography'),
  // These applications sign a user in by a header field that their proxy sets.
  program('radicale', 'radicale'),
  { ...python('django', 'python3-django'), program: 'remote_user_django.py' },
  { ...python('buildbot.www.auth', 'buildbot'), program: 'remote_user_buildbot.py' },
];
