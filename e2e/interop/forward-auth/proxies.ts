/** @needs caddy */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startNginx as runNginx } from '../../parts/nginx.ts';
import { startProcess } from '../../parts/process.ts';
import type { RunningProcess } from '../../parts/process.ts';
import { rawHttp } from '../../parts/raw-http.ts';

export interface Places {
  /** The folder for the proxy's configuration and files. */
  readonly folder: string;
  /** The origin of the proxy. */
  readonly origin: string;
  /**
   * The origin of an outer proxy, which terminates TLS and sends the exporter value (RFC 9729 section 6.2).
   */
  readonly outside?: string;
  /** The origin of the resource server. */
  readonly resource: string;
  /** The origin of the application. */
  readonly application: string;
}

/** The purpose of a configuration in docs/how-to/nginx and docs/how-to/caddy. */
type Purpose = 'forward-auth' | 'sign-in';

/** The documentation's configuration with these places. The configuration states the public name once. */
async function filledIn(file: string, places: Places): Promise<string> {
  const { hostname, host, protocol } = new URL(places.outside ?? places.origin);
  const text = await readFile(new URL(`../../../docs/how-to/${file}`, import.meta.url), 'utf8');
  const [before, after, ...more] = text.split('app.example');
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${file} states the public name ${more.length + 1} times.`);
  }
  return [before, after]
    .join(file.startsWith('nginx') ? hostname : host)
    .replaceAll('127.0.0.1:3001', new URL(places.resource).host)
    .replaceAll('127.0.0.1:8080', new URL(places.application).host)
    .replaceAll('127.0.0.1:8000', new URL(places.origin).host)
    .replaceAll('X-Forwarded-Proto https', `X-Forwarded-Proto ${protocol.slice(0, -1)}`)
    .replaceAll('$server_name;', `$server_name${host.slice(hostname.length)};`)
    .replace(places.outside === undefined ? '' : /.*-Auth-Export.*\n/, '');
}

const answers = (origin: string) => async () => (await rawHttp(origin, 'GET /\r\n\r\n')).length > 0;

/** Starts nginx with the documentation's configuration. */
export async function startNginx(
  places: Places,
  purpose: Purpose = 'forward-auth',
): Promise<RunningProcess> {
  const { folder, origin } = places;
  const server = join(folder, 'server.conf');
  await writeFile(server, await filledIn(`nginx/${purpose}.conf`, places));
  return runNginx({ folder, origin, http: `include ${server};` });
}

export async function startCaddy(
  places: Places,
  purpose: Purpose = 'forward-auth',
): Promise<RunningProcess> {
  const { folder, origin } = places;
  const site = await filledIn(`caddy/${purpose}.caddyfile`, places);
  const listen = `http://:${new URL(origin).port} {\n\tbind 127.0.0.1`;
  const file = join(folder, 'Caddyfile');
  await writeFile(file, `{\n\tadmin off\n}\n${site.replace('\t{args.0} {', listen)}`);
  return startProcess('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { PATH: process.env['PATH'], HOME: folder },
    ready: answers(origin),
  });
}
