import { relyingPartyId } from '#shared/config/relying-party.ts';
import type { Assurance } from '#shared/people/access/assurance.ts';
import { note } from '#shared/server/message/request-log.ts';
import type { PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';
import type { Context } from 'koa';
import { bySomebody } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { noteLate } from '../frame/respond.ts';
import type { Attempt, AttemptWith } from './attempt.ts';
import { createAttemptLimits } from './attempt-limits.ts';
import { createChallenges } from './challenge.ts';
import { challengeOf, parseUsed } from './credential.ts';
import { type ProvenUse, verifyUsed } from './webauthn.ts';

/**
 * The methods of RFC 8176 section 2: the authenticator has verified its owner (`user`), which counts as a second factor. A
 * private key that may not be backed up stays in it (`hwk`).
 */
const byPasskey = ({ backupEligible }: PasskeyRecord): Assurance => ({
  acr: 'urn:countersign:acr:passkey',
  amr: [backupEligible ? 'swk' : 'hwk', 'user', 'mfa'],
});

type PasskeyProblem = 'passkey' | 'passkey-late' | 'passkey-copied';

/** Checks the field `passkey` of a sign-in form: the answer of an authenticator (WebAuthn section 7.2). */
export function createPasskeySignIn(server: PagesServer): AttemptWith {
  const { clock, config, directory, stores } = server;
  const { limited } = createAttemptLimits(server);
  const challenges = createChallenges(server);
  const rpId = relyingPartyId(config);

  async function attempt(ctx: Context, form: URLSearchParams): Promise<Attempt> {
    const refused = async (kind: PasskeyProblem, reason: string): Promise<Attempt> => {
      note(ctx.req, { reason: `passkey: ${reason}` });
      return { problem: { kind } };
    };
    const used = parseUsed(form.get('passkey') ?? '');
    if (used === undefined || rpId === undefined) return refused('passkey', 'it is no answer');
    const challenge = challengeOf(used);
    if (!(await challenges.spend(challenge, 'get', form.get('csrf') ?? ''))) {
      noteLate(ctx);
      return refused('passkey-late', 'its challenge is not good here any more');
    }
    const passkey = await stores.passkeys.get(used.id);
    if (passkey === undefined) return refused('passkey', 'nobody here has it');
    const { accountId, id } = passkey;
    const refusedOf: typeof refused = async (kind, reason) => {
      await bySomebody(server, ctx).refused(accountId, 'passkey');
      return refused(kind, reason);
    };
    // The generation is read before any check. If the person ends everything meanwhile, this sign-in ends, too.
    const generation = await stores.revocations.generation('person', accountId);
    const person = await directory.find(accountId);
    if (person === undefined) return refusedOf('passkey', 'its person may not sign in');
    let use: ProvenUse;
    try {
      use = await verifyUsed(used, passkey, { challenge, origin: config.issuer, rpId });
    } catch (error) {
      return refusedOf('passkey', error instanceof Error ? error.message : String(error));
    }
    const outcome = await stores.passkeys.use(id, { ...use, at: clock.now() });
    if (outcome === 'gone') return refusedOf('passkey', 'it was removed');
    if (outcome === 'refused') {
      return refusedOf(
        'passkey-copied',
        `its counter is not above the last one: person ${accountId}`,
      );
    }
    const means = { assurance: byPasskey(passkey), passkey: id };
    return { person: { ...person, generation }, means };
  }

  return (ctx, form) => limited(ctx, undefined, () => attempt(ctx, form));
}
