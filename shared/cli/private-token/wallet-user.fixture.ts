import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach } from '@jest/globals';
import { inProcess, json } from '../cli.fixture.ts';
import { type Parties, startParties } from './parties.fixture.ts';

/** Somebody with a command line, and the servers it talks to: new ones for each test. */
export function walletUser() {
  let parties: Parties;
  let file: string;
  beforeEach(async () => {
    parties = await startParties();
    file = join(parties.shell.env['HOME'] ?? '', '.config/countersign/private-tokens.json');
  });

  return {
    get parties() {
      return parties;
    },
    /** The file of the wallet. */
    get file() {
      return file;
    },
    get: (...more: readonly string[]) =>
      inProcess(parties.shell, 'private-token', 'get', parties.url, ...more),
    getJson: (...more: readonly string[]) =>
      json(parties.shell, 'private-token', 'get', parties.url, ...more),
    redeem: (...more: readonly string[]) =>
      inProcess(parties.shell, 'private-token', 'redeem', parties.url, ...more),
    /** Returns the tokens in the wallet. */
    kept: async () =>
      (JSON.parse(await readFile(file, 'utf8')) as { tokens: { token: string }[] }).tokens,
    /** Token requests that reached the issuer. */
    requested: () =>
      parties.issuer.received.filter(({ line }) => line === 'POST /private-token/request'),
    /** Credentials that reached the site. */
    redeemed: () => parties.site.received.flatMap(({ authorization }) => authorization ?? []),
  };
}
