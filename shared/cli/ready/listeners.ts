import { readFileSync } from 'node:fs';
import { localOrigin } from '#shared/config/local-origin.ts';
import { type ServerName, SERVERS } from '#shared/config/server-name.ts';

type Address = Parameters<typeof localOrigin>[0];
type Members = Readonly<Record<string, unknown>>;

const PORTS: Readonly<Record<ServerName, number>> = { authz: 3000, resource: 3001 };

/**
 * Returns the addresses at which the configuration lets the servers of this machine listen. It reads these few settings
 * without the schema: loading the schema takes ten times as long, and a mistake elsewhere in the file or in a variable
 * says nothing about servers that run. A mistake in these settings means the default.
 */
export function listenersOf(env: NodeJS.ProcessEnv): Readonly<Record<ServerName, Address>> {
  const listen = membersOf(membersOf(orNone(() => textIn(env['COUNTERSIGN_CONFIG'])))['listen']);
  const setting = (name: string) => {
    const variable = `COUNTERSIGN_LISTEN${name}`;
    return env[variable] || orNone(() => textIn(env[`${variable}_FILE`])?.replace(/\r?\n$/, ''));
  };
  const host = firstOf(isHost, setting(''), listen['host']) ?? '127.0.0.1';
  const addresses = SERVERS.map((server) => {
    const name = `_${server.toUpperCase()}`;
    const own = membersOf(setting(name) ?? listen[server]);
    return [
      server,
      {
        host: firstOf(isHost, setting(`${name}_HOST`), own['host']) ?? host,
        port: Number(firstOf(isPort, setting(`${name}_PORT`), own['port']) ?? PORTS[server]),
      },
    ] as const;
  });
  return Object.fromEntries(addresses) as Record<ServerName, Address>;
}

const textIn = (file: string | undefined) => (file ? readFileSync(file, 'utf8') : undefined);

/** Returns undefined if something cannot be read: the server has started with another content. */
function orNone<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Returns the members of an object, or of the JSON text of one. */
function membersOf(value: unknown): Members {
  const read = typeof value === 'string' ? orNone(() => JSON.parse(value) as unknown) : value;
  return typeof read === 'object' && read !== null ? (read as Members) : {};
}

const isHost = (value: unknown) =>
  typeof value === 'string' && URL.canParse(localOrigin({ host: value, port: 1 }) ?? '');
const isPort = (value: unknown) => /^\d{1,5}$/.test(String(value)) && Number(value) <= 65_535;

const firstOf = (fits: (value: unknown) => boolean, ...values: readonly unknown[]) =>
  values.find(fits) as string | undefined;
