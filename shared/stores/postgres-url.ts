/** The options of TLS by `sslmode`; without `sslmode`, no TLS. */
const MODES = {
  disable: false,
  'no-verify': { rejectUnauthorized: false },
  require: {},
  'verify-ca': {},
  'verify-full': {},
} as const;

/** The form of a URL, for messages. */
export const POSTGRES_URL_FORM = 'postgres://user:password@host:5432/database';

/** A server, with the user and the database. */
export interface PostgresServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: string;
  readonly database: string;
  /** Options of TLS; false: no TLS. Absent: the URL has no `sslmode`. */
  readonly ssl?: { readonly rejectUnauthorized?: boolean } | false;
}

/**
 * Returns the parts of the URL of a server, or what is wrong with it, without its password. `pg` alone would accept
 * more.
 */
export function readPostgresUrl(value: string): PostgresServer | string {
  if (!/^postgres(?:ql)?:\/\/[^/]/.test(value) || !URL.canParse(value)) {
    return `must be ${POSTGRES_URL_FORM}, and a / or # of the password is %2F or %23`;
  }
  const { username, password, hostname, port, pathname, searchParams, hash } = new URL(value);
  const parts = [username, password, hostname, pathname.slice(1)].map(decoded);
  const [user, secret, host, database] = parts;
  if (parts.includes(undefined) || hash !== '') {
    return 'must have a % in user, password and database as %25, and a # as %23';
  }
  if (!user || !database) return `must name a user and a database: ${POSTGRES_URL_FORM}`;
  if (host?.includes(',')) return 'must name one server: give each server a URL of its own';
  const sslmode = searchParams.get('sslmode');
  const other = [...searchParams.keys()].find((name) => name !== 'sslmode');
  if (other !== undefined) return `must have no parameter but sslmode: remove ${other}`;
  if (sslmode !== null && !Object.hasOwn(MODES, sslmode)) {
    return `must have sslmode ${Object.keys(MODES).join(', ')}, or none`;
  }
  return {
    host: (host ?? '').replace(/^\[(.+)\]$/, '$1'),
    port: Number(port || 5432),
    user,
    ...(secret && { password: secret }),
    database,
    ...(sslmode !== null && { ssl: MODES[sslmode as keyof typeof MODES] }),
  };
}

/** Whether TLS verifies the certificate and the host name. */
export const isVerified = ({ ssl }: PostgresServer): boolean =>
  ssl !== undefined && ssl !== false && ssl.rejectUnauthorized !== false;

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
