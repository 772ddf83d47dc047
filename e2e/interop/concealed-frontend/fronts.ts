/** @needs haproxy */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startPair } from '../../pair/pair.ts';
import { startProcess } from '../../parts/process.ts';
import type { CertificateFiles } from '../proxy-site.ts';

export interface Places {
  /** Folder for what the front is configured with. */
  readonly folder: string;
  /** Where it listens, and what it is known by. */
  readonly origin: string;
  /** Origin that it hands on to. */
  readonly upstream: string;
  readonly certificate: CertificateFiles;
}

/** The configuration that operators copy, with these places in it. */
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

/** Our gateway, in front of an application that speaks Concealed itself. */
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
