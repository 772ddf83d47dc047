/** @needs haproxy */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startPair } from '../../pair/pair.ts';
import { startProcess } from '../../parts/process.ts';
import type { CertificateFiles } from '../proxy-site.ts';

export interface Places {
  /** The folder for the front's configuration. */
  readonly folder: string;
  /** The origin of the front, which is also its public origin. */
  readonly origin: string;
  /** The origin to which the front forwards requests. */
  readonly upstream: string;
  readonly certificate: CertificateFiles;
}

/** Starts HAProxy with the documentation's configuration and these places. */
export async function startHaproxy(places: Places): Promise<AsyncDisposable> {
  const { folder, origin, upstream, certificate } = places;
  const { host, port } = new URL(origin);
  const [pem, file] = [join(folder, `${port}.pem`), join(folder, `${port}.cfg`)];
  const halves = [certificate.certificate, certificate.key].map((name) => readFile(name));
  await writeFile(pem, Buffer.concat(await Promise.all(halves)), { mode: 0o600 });
  const script = new URL('concealed-auth-export.lua', import.meta.url).pathname;
  const text = await readFile(new URL('haproxy.cfg', import.meta.url), 'utf8');
  await writeFile(
    file,
    text
      .replace('/etc/haproxy/concealed-auth-export.lua', script)
      .replace('/etc/haproxy/certificate.pem', pem)
      .replace('bind :443', `bind 127.0.0.1:${port}`)
      .replaceAll('app.example', host)
      .replace('127.0.0.1:3001', new URL(upstream).host),
  );
  return startProcess('haproxy', ['-db', '-f', file], {
    env: { PATH: `${process.env['PATH']}:/usr/sbin` },
    ready: async () => {
      const socket = connect(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
      return true;
    },
  });
}

/** Starts Countersign's gateway in front of an application that checks Concealed proofs itself. */
export async function startGateway(places: Places): Promise<AsyncDisposable> {
  const { origin, upstream, certificate } = places;
  const { certificate: file, key } = certificate;
  const at = (url: string) => ({ host: '127.0.0.1', port: Number(new URL(url).port) });
  return startPair({
    settings: ({ issuer, tokenIssuer, resource }) => ({
      tls: { resource: origin, certificate: file, key },
      listen: {
        authz: at(issuer),
        authzTls: at(tokenIssuer),
        resource: at(resource),
        resourceTls: at(origin),
      },
      spaces: [
        {
          url: `${resource}/`,
          realm: 'front',
          schemes: [],
          serves: 'upstream',
          upstream: { url: `${upstream}/`, concealedExport: true },
        },
      ],
    }),
  });
}
