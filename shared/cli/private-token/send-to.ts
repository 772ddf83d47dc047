import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OwnSend, openSend } from '#shared/client/send.ts';
import { isProduction } from '#shared/config/production.ts';
import type { Config } from '#shared/config/schema.ts';
import { Failure } from '../arguments/command.ts';

/** Octets of the longest content of a site; an issuer may send less. */
const LONGEST = 256 * 1024 * 1024;

/**
 * Opens connections to one origin that are used for nothing else, so that neither they nor a resumed session of TLS
 * tell one party what the other knows. If development makes the certificate for this origin of the configuration,
 * that certificate is trusted beside the usual CAs. `most`: octets of the longest content that is accepted.
 */
export async function openSendTo(origin: string, config: Config, most = LONGEST): Promise<OwnSend> {
  const certificate = certificateIsMade(origin, config)
    ? await readCertificate(config.data)
    : undefined;
  return openSend({ milliseconds: Infinity, most, ...(certificate && { ca: certificate }) });
}

function certificateIsMade(origin: string, config: Config): boolean {
  const { tls, privateTokens } = config;
  const own = [
    tls?.certificate === undefined ? tls?.resource : undefined,
    privateTokens?.certificate === undefined ? privateTokens?.issuer : undefined,
  ];
  return !isProduction(config) && own.includes(origin);
}

/** Reads the development certificate. Undefined if the servers have not made it yet. */
async function readCertificate(data: string): Promise<string | undefined> {
  const file = join(data, 'tls', 'certificate.pem');
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Failure(`cannot read ${file} (${error.code})`);
  });
}
