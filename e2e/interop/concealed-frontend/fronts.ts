import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { AUTH_EXPORT, formatAuthExport } from '#shared/auth/schemes/concealed/auth-export.ts';
import { readProof } from '#shared/auth/schemes/concealed/credentials.ts';
import { EXPORTED, exporterContext, LABEL } from '#shared/auth/schemes/concealed/signed.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { exporterOf } from '#shared/server/exporter.ts';
import { startProcess } from '../../parts/process.ts';
import { startTellingFront } from '../../parts/telling-front.ts';
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

/** A front of our own, with the functions that a gateway of ours will tell by. */
export async function startOwnFront(places: Places): Promise<AsyncDisposable> {
  const { origin, upstream, certificate } = places;
  const { host, port } = new URL(origin);
  const key = await readFile(certificate.key, 'utf8');
  const cert = await readFile(certificate.certificate, 'utf8');
  return startTellingFront({
    port: Number(port),
    certificate: { key, cert },
    upstream,
    tells: {
      [AUTH_EXPORT]: (request) => authExport(request, origin),
      'X-Forwarded-For': ({ socket }) => socket.remoteAddress,
      'X-Forwarded-Proto': () => 'https',
      'X-Forwarded-Host': () => host,
    },
  });
}

function authExport(request: IncomingMessage, url: string): string | undefined {
  const credentials = parseCredentials(request.headers.authorization ?? '');
  const proof = credentials?.scheme === 'concealed' ? readProof(credentials) : undefined;
  const exporter = exporterOf(request);
  if (!proof || !exporter) return undefined;
  return formatAuthExport(exporter(LABEL, exporterContext({ ...proof, url }), EXPORTED));
}
