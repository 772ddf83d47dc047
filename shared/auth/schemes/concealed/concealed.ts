import { sameBytes, sameText } from '#shared/base/constant-time.ts';
import type { Clock } from '#shared/base/clock.ts';
import { active, type Admitted } from '#shared/people/active.ts';
import type { Person } from '#shared/people/directory.ts';
import { isKeyEnough } from '#shared/people/second-factor/key-enough.ts';
import type { SecondFactorRule } from '#shared/people/second-factor/need.ts';
import type { People } from '#shared/stores/people/people.ts';
import type { KeyOwner, PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import type { SecondFactors } from '#shared/stores/credentials/second-factors.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { refuse as refuseSpace } from '#shared/refusals/spaces.ts';
import { showsConcealed } from '../../conceal.ts';
import { noteUse } from '../../credentials/note-use.ts';
import { personPrincipal } from '../../person.ts';
import type { AuthRequest, Principal, Scheme, Verdict } from '../../scheme.ts';
import { AUTH_EXPORT, parseAuthExport } from './auth-export.ts';
import { type ClaimedKey, keyOf, refusalOfId } from './claimed-key.ts';
import { type Proof, readProof, readSigned } from './credentials.ts';
import type { SignatureScheme } from './signature-schemes.ts';
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
  readonly secondFactor: SecondFactorRule;
  readonly secondFactors: Pick<SecondFactors, 'get'>;
  readonly clock: Clock;
  readonly admitted: Admitted;
  /** Whether applications may use the scheme, too. */
  readonly applications: boolean;
  /** Whether a trusted proxy may send the exporter output of its own connection to the client. */
  readonly frontend: boolean;
}

/** The owner that is looked up if the key does not exist or belongs to no person. */
const NOBODY: KeyOwner = { kind: 'person', id: '-' };

/**
 * Makes the Concealed scheme (RFC 9729): a client signs the output of the connection's exporter with its private key.
 * The scheme never announces itself. It does not limit attempts, since a signature cannot be guessed. A limit would
 * also write to the store, which a stranger could notice.
 */
export function concealed(options: ConcealedOptions): Scheme {
  const { realm, publicKeys, people, clock, admitted, applications, frontend } = options;
  const { secondFactor: rule, secondFactors } = options;

  function exported(proof: Proof, request: AuthRequest): Exported | undefined {
    if (frontend && request.peer.trusted) {
      const told = parseAuthExport(request.field(AUTH_EXPORT) ?? '');
      return told && splitExported(told);
    }
    if (request.exporter === undefined) return undefined;
    const context = exporterContext({ ...proof, url: addressOf(request) });
    return splitExported(request.exporter(LABEL, context, EXPORTED));
  }

  const personOf = async ({ kind, id }: KeyOwner) =>
    active(await people.get(kind === 'person' ? id : NOBODY.id), admitted);

  function principalOf({ kind, id }: KeyOwner, person: Person | undefined): Principal | undefined {
    if (kind === 'person') return person && personPrincipal(realm, person);
    return applications ? { kind, id } : undefined;
  }

  /**
   * Finds the owner of a key whose possession was proved. The number of reads of the store does not depend on what is
   * wrong.
   */
  async function judge({ id, spki }: ClaimedKey, proof: Proof): Promise<Verdict> {
    const record = await publicKeys.get(id);
    const person = await personOf(record?.owner ?? NOBODY);
    const principal = principalOf(record?.owner ?? NOBODY, person);
    const known = record?.scheme === 'Concealed' && sameText(record.spki, spki);
    const here = proof.realm === undefined || proof.realm === realm;
    if (!known) return { kind: 'refused', ...refuse('concealed-unknown') };
    if (!here) return { kind: 'refused', ...refuse('concealed-realm') };
    if (principal === undefined) return { kind: 'refused', ...refuse('concealed-owner') };
    if (person !== undefined && !(await isKeyEnough(rule, secondFactors, person, record)))
      return { kind: 'refused', ...refuseSpace('old-key') };
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
      const read = readSigned(credentials);
      if ('refusal' in read) return { kind: 'refused', ...read };
      const { proof, scheme } = read;
      const found = exported(proof, request);
      if (found === undefined) return { kind: 'refused', ...refuse('concealed-clear-text') };
      const key = provenKey(proof, scheme, found);
      return 'refusal' in key ? { kind: 'refused', ...key } : judge(key, proof);
    },
  };
}

/**
 * Returns the key in `a`, whose ID is `k`, if the proof verifies with it; otherwise the reason. All of this follows
 * from the request and its connection. The store is asked only after the proof, so that the time of an answer shows
 * which keys are known only to holders of the private key (RFC 9729 section 6.4).
 */
function provenKey(
  proof: Proof,
  scheme: SignatureScheme,
  { signatureInput, verification }: Exported,
): ClaimedKey | Refusal {
  const claimed = keyOf(scheme, proof);
  if ('refusal' in claimed) return claimed;
  const signed = scheme.verifies(covered(signatureInput), claimed.key, proof.signature);
  const same = sameBytes(proof.verification, verification);
  const misnamed = refusalOfId(claimed, proof);
  if (!signed) return refuse('concealed-p');
  if (!same) return refuse('concealed-v');
  return misnamed ?? claimed;
}

/** Returns the signed URL: at a proxy the requested URI, elsewhere this server's origin, never the Host field. */
function addressOf({ at, method, target, origin }: AuthRequest): string {
  if (at.status === 401) return origin;
  return method === 'CONNECT' ? `https://${target}` : target;
}
