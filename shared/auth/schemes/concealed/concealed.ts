import type { KeyObject } from 'node:crypto';
import { sameBytes } from '#shared/base/constant-time.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { active } from '#shared/people/active.ts';
import { importedKey } from '#shared/people/public-key.ts';
import type { People } from '#shared/stores/people.ts';
import type { KeyOwner, PublicKeyRecord, PublicKeys } from '#shared/stores/public-keys.ts';
import { showsConcealed } from '../../conceal.ts';
import { noteUse } from '../../note-use.ts';
import { personPrincipal } from '../../person.ts';
import type { AuthRequest, Principal, Scheme, Verdict } from '../../scheme.ts';
import { AUTH_EXPORT, parseAuthExport } from './auth-export.ts';
import { type Proof, readProof } from './credentials.ts';
import { SIGNATURE_SCHEMES, type SignatureScheme } from './signature-schemes.ts';
import {
  covered,
  type Exported,
  EXPORTED,
  exporterContext,
  LABEL,
  splitExported,
} from './signed.ts';

export interface ConcealedOptions {
  readonly realm: string;
  readonly publicKeys: Pick<PublicKeys, 'get' | 'touch'>;
  readonly people: Pick<People, 'get'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether the person that the first start made may be let in (never in production). */
  readonly demo: boolean;
  /** Whether applications may come, too. */
  readonly applications: boolean;
  /** Whether what trusted proxies say of their own connections is believed. */
  readonly frontend: boolean;
}

/** Looked for where there is no such key, or it is no person's. */
const NOBODY: KeyOwner = { kind: 'person', id: '-' };

/**
 * Concealed (RFC 9729): who has the private key signs what the connection says of itself. It never announces
 * itself, and there is nothing to guess, so that attempts are not counted: counting would write, which tells.
 */
export function concealed(options: ConcealedOptions): Scheme {
  const { realm, publicKeys, people, clock, random, demo, applications, frontend } = options;

  function exported(proof: Proof, request: AuthRequest): Exported | undefined {
    if (frontend && request.peer.trusted) {
      const told = parseAuthExport(request.field(AUTH_EXPORT) ?? '');
      return told && splitExported(told);
    }
    if (request.exporter === undefined) return undefined;
    const context = exporterContext({ ...proof, url: addressOf(request) });
    return splitExported(request.exporter(LABEL, context, EXPORTED));
  }

  async function principalOf({ kind, id }: KeyOwner): Promise<Principal | undefined> {
    const person = active(await people.get(kind === 'person' ? id : NOBODY.id), demo);
    if (kind === 'person') return person && personPrincipal(realm, person);
    return applications ? { kind, id } : undefined;
  }

  /** Whatever is wrong, the same is done: two looks into the store, a key written and a signature verified. */
  async function judge(
    proof: Proof,
    scheme: SignatureScheme,
    { signatureInput, verification }: Exported,
  ): Promise<Verdict> {
    const id = proof.keyId.toString('base64url');
    const record = await publicKeys.get(id);
    const principal = await principalOf(record?.owner ?? NOBODY);
    const stored = storedKey(record, scheme);
    const key = stored ?? scheme.decoy(random, proof.publicKey.length);
    const signed = scheme.verifies(covered(signatureInput), key, proof.signature);
    const said = sameBytes(scheme.encode(key), proof.publicKey);
    const same = sameBytes(proof.verification, verification);
    const here = proof.realm === undefined || proof.realm === realm;
    const right = signed && said && same && here;
    if (!right || record === undefined || stored === undefined || principal === undefined) {
      return { kind: 'refused', reason: 'wrong Concealed credentials' };
    }
    noteUse(publicKeys, record, clock.now());
    const end = async () => ((await publicKeys.get(id)) ? undefined : 'revoked');
    return { kind: 'granted', principal, grounds: { of: `key of Concealed ${id}`, end } };
  }

  return {
    name: 'Concealed',

    unannounced: true,

    ignores: (line, credentials) =>
      showsConcealed(line) && (credentials === undefined || readProof(credentials) === undefined),

    challenge: () => [],

    authenticate(credentials, request) {
      const proof = readProof(credentials);
      if (proof === undefined) return { kind: 'refused', reason: 'malformed proof' };
      const scheme = SIGNATURE_SCHEMES.get(proof.signatureScheme);
      if (scheme === undefined) return { kind: 'refused', reason: 'unknown signature scheme' };
      const found = exported(proof, request);
      if (found === undefined) return { kind: 'refused', reason: 'not over TLS 1.3' };
      return judge(proof, scheme, found);
    },
  };
}

/** The key of a record, if it is one that the client's signature scheme is for. */
function storedKey(
  record: PublicKeyRecord | undefined,
  scheme: SignatureScheme,
): KeyObject | undefined {
  if (record?.scheme !== 'Concealed') return undefined;
  const key = importedKey(record.spki);
  return scheme.fits(key) ? key : undefined;
}

/** Of a proxy's client the URI it asks for, of any other that of our origin: never what Host says. */
function addressOf({ at, method, target, origin }: AuthRequest): string {
  if (at.status === 401) return origin;
  return method === 'CONNECT' ? `https://${target}` : target;
}
