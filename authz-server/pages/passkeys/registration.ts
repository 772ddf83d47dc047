import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import type { Recorder } from '#shared/audit/recorder.ts';
import { relyingPartyId } from '#shared/config/relying-party.ts';
import type { Person } from '#shared/people/directory.ts';
import { note } from '#shared/server/message/request-log.ts';
import { MOST_PASSKEYS, type PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';
import type { Context } from 'koa';
import type { PagesServer } from '../../base/server.ts';
import { CHALLENGE_LIFE, createChallenges } from '../sign-in/challenge.ts';
import { challengeOf, parseCreated } from '../sign-in/credential.ts';
import { ALGORITHMS, type MadePasskey, userHandleOf, verifyCreated } from '../sign-in/webauthn.ts';

/** Returns the answer of an authenticator that a form has, with the browser's proof. */
export const answerIn = (form: URLSearchParams) => ({
  csrf: form.get('csrf') ?? '',
  answer: form.get('passkey') ?? '',
});

export interface Registration {
  /**
   * Returns the options with which a browser makes a passkey (WebAuthn section 5.4), as JSON. Undefined: browsers make
   * no passkeys for this issuer.
   */
  options(person: Person, csrf: string, passkeys: readonly PasskeyRecord[]): string | undefined;
  /** Verifies the answer of an authenticator, and stores nothing. */
  check(
    ctx: Context,
    accountId: string,
    answered: { readonly csrf: string; readonly answer: string },
  ): Promise<{ readonly made: MadePasskey } | { readonly problem: 'failed' | 'late' }>;
  /** Returns the record of a passkey that `check` has verified. */
  record(accountId: string, made: MadePasskey, name: string): PasskeyRecord;
  /** Stores the passkey that `record` returned, with the audit events `more`. Undefined: it was stored. */
  keep(
    recorder: Recorder,
    passkey: PasskeyRecord,
    ...more: readonly AuditEvent[]
  ): Promise<'taken' | 'full' | undefined>;
}

/** Makes passkeys for people (WebAuthn section 7.1). */
export function createRegistration(server: PagesServer): Registration {
  const { clock, config } = server;
  const challenges = createChallenges(server);
  const rpId = relyingPartyId(config);

  return {
    record: (accountId, made, name) => ({ ...made, accountId, name, created_at: clock.now() }),

    options({ id, name, profile }, csrf, passkeys) {
      if (rpId === undefined) return undefined;
      return JSON.stringify({
        challenge: challenges.make(`create ${id}`, csrf),
        rp: { id: rpId, name: config.brand.name },
        user: { id: userHandleOf(id), name, displayName: profile?.display_name ?? name },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
        timeout: CHALLENGE_LIFE,
        // An authenticator that has one of these passkeys makes no other.
        excludeCredentials: passkeys.map((passkey) => ({ type: 'public-key', id: passkey.id })),
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        attestation: 'none',
      });
    },

    async check(ctx, accountId, { csrf, answer }) {
      const refused = (problem: 'failed' | 'late', reason: string) => {
        note(ctx.req, { reason: `passkey: ${reason}` });
        return { problem };
      };
      const created = parseCreated(answer);
      if (created === undefined || rpId === undefined) return refused('failed', 'it is no answer');
      const challenge = challengeOf(created);
      if (!(await challenges.spend(challenge, `create ${accountId}`, csrf))) {
        return refused('late', 'its challenge is not good here any more');
      }
      try {
        return { made: await verifyCreated(created, { challenge, origin: config.issuer, rpId }) };
      } catch (error) {
        return refused('failed', error instanceof Error ? error.message : String(error));
      }
    },

    async keep(recorder, passkey, ...more) {
      const { accountId, id } = passkey;
      const added = { kind: 'passkey.added', person: accountId, key: id } as const;
      const outcome = await recorder
        .changing('passkeys', added, ...more)
        .add(passkey, MOST_PASSKEYS);
      return outcome === 'added' ? undefined : outcome;
    },
  };
}
