import {
  endCompromisedKey,
  type KeyLifecycle,
  listKeys,
  rotateKey,
} from '#shared/keys/signing-key-lifecycle.ts';
import type { KeyTable, StoredKey } from '#shared/stores/keys/keys.ts';
import { type Command, Failure, type Report, UsageError } from '../arguments/command.ts';
import { GATEWAY, tableOf, withKeys } from '../stores/with-keys.ts';

type Alg = StoredKey['alg'];

export const signingKeysRotate: Command = {
  name: 'signing-keys rotate',
  store: 'opens',
  former: 'keys rotate',
  summary: 'replace a signing key while the servers run; valid tokens stay valid',
  operands: ['[KID]'],
  options: {
    alg: { value: 'ALG', help: 'ES256, RS256 or EdDSA; default: ES256' },
    gateway: GATEWAY,
    compromised: { help: 'others may have the key: refuse all its tokens at once' },
  },
  details: [
    'The new key is published now and signs after jwks.overlap seconds. The old one stays published until its last',
    'token has expired. With --compromised the key KID (default: the one that signs) is dropped, the next request with',
    'one of its tokens is refused, and a new key signs at once.',
    'Applications check the statements of the gateway: they accept those of a dropped key until they fetch the keys',
    'again.',
  ],
  async run(input, shell) {
    const [kid] = input.operands;
    const alg = input.text('alg');
    if (kid !== undefined && !input.flag('compromised')) {
      throw new UsageError('KID is for --compromised only; a rotation is of an --alg');
    }
    if (kid !== undefined && alg !== undefined) throw new UsageError('give KID or --alg, not both');
    return withKeys(shell, tableOf(input), (life) =>
      input.flag('compromised')
        ? endKey(life, kid, algNamed(alg))
        : startRotation(life, algNamed(alg)),
    );
  },
};

async function startRotation(life: KeyLifecycle, alg: Alg): Promise<Report> {
  const key = await rotateKey(life, alg);
  const from = new Date(key.signsFrom).toISOString();
  return {
    json: { kid: key.kid, alg: key.alg, signs_from: from },
    lines: [`Published the ${key.alg} key ${key.kid}. It signs from ${from}.`],
  };
}

const ENDED: Record<KeyTable, (kid: string) => string> = {
  keys: (kid) => `Every token of the key ${kid} is refused from now on.`,
  gatewayKeys: (kid) => `The key ${kid} is published no more.`,
};

async function endKey(life: KeyLifecycle, kid: string | undefined, alg: Alg): Promise<Report> {
  const ended = kid ?? (await signingKid(life, alg));
  const key = await endCompromisedKey(life, ended);
  return {
    json: { ended, ...(key && { kid: key.kid, alg: key.alg }) },
    lines: [
      ENDED[life.table](ended),
      ...(key ? [`The ${key.alg} key ${key.kid} signs in its place.`] : []),
    ],
  };
}

async function signingKid(life: KeyLifecycle, alg: Alg): Promise<string> {
  const signing = (await listKeys(life)).find(
    ({ key, state }) => key.alg === alg && state === 'signing',
  );
  if (signing === undefined) throw new Failure(`no ${alg} key signs now: name the KID`);
  return signing.key.kid;
}

function algNamed(name = 'ES256'): Alg {
  if (name === 'ES256' || name === 'RS256' || name === 'EdDSA') return name;
  throw new UsageError('--alg must be ES256, RS256 or EdDSA');
}
