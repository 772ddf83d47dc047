import type { Context, Middleware } from 'koa';
import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { changePasswordAndEnd, removePasswordAndEnd } from '#shared/people/change-password.ts';
import { verifySentTo } from '#shared/people/address-links.ts';
import { addressKey } from '#shared/people/names/mail-address.ts';
import { judgePassword } from '#shared/people/password-rules.ts';
import { PeopleError } from '#shared/people/people.ts';
import { createRecoveryLinks, LINK_PATH, type Recovery } from '#shared/people/recovery-links.ts';
import { MOST_PASSKEYS } from '#shared/stores/credentials/passkeys.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { asHolder } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { notify } from '#shared/mail/notify.ts';
import type { MailKind } from '#shared/mail/kinds.ts';
import { createCsrf } from '../frame/csrf.ts';
import { expired, PageError } from '../frame/page-error.ts';
import { answerWith, noteDone, noteLate } from '../frame/respond.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { textsOf } from '../texts/index.ts';
import { freeName } from '../passkeys/passkey-names.ts';
import { answerIn, createRegistration } from '../passkeys/registration.ts';
import { programName } from '../views/program.ts';
import {
  recoveredPage,
  recoverPage,
  recoveryGonePage,
  type RecoveredProps,
  type RecoverProps,
} from '../views/recover.ts';
import { passwordNotice } from './password-notice.ts';

/** A valid link, and the record of its person. */
interface Holder {
  readonly recovery: Recovery;
  readonly seen: PersonRecord;
}

/**
 * Whether the mail address of a link is still an address of its person; a verified address if the person asked for the
 * link. The reader of a former or mistyped mailbox cannot use the link.
 */
function isTheirs({ address: sentTo, byMail }: Recovery, { profile }: PersonRecord): boolean {
  if (sentTo === undefined) return true;
  const own = profile?.emails?.find(({ address }) => addressKey(address) === addressKey(sentTo));
  return own !== undefined && (!byMail || own.verified);
}

/**
 * The page of a link for somebody who cannot sign in. Mail scanners that open every link do not use it up: GET only
 * shows the form. Only an acceptable password, or a passkey, uses the link up. The link signs in no person, so that a
 * second factor is still required.
 */
export function recoverHandlers(
  server: PagesServer,
): Readonly<Record<'show' | 'recover', Middleware>> {
  const { stores, directory } = server;
  const links = createRecoveryLinks(server);
  const { checkForm } = createCsrf(server);
  const registration = createRegistration(server);
  const viewOf = createViewOf(server);

  async function holderOf(secret: string): Promise<Holder | undefined> {
    const recovery = await links.find(secret);
    if (recovery === undefined) return undefined;
    const [seen, person] = await Promise.all([
      stores.people.get(recovery.person),
      // The link works only for a person who may sign in.
      directory.find(recovery.person),
    ]);
    return seen && person && isTheirs(recovery, seen) ? { recovery, seen } : undefined;
  }

  const secretOf = (ctx: Context) => ctx.path.slice(LINK_PATH.length);

  /**
   * Whether the link makes a passkey. A passkey counts as both factors, and a link must not replace the second factor
   * unless it was made to remove it.
   */
  async function makesPasskey({ recovery: { person, secondFactor = false } }: Holder) {
    return secondFactor || (await stores.secondFactors.get(person)) === undefined;
  }

  async function showForm(
    ctx: Context,
    holder: Holder,
    more: Pick<RecoverProps, 'problem' | 'passkeyProblem'> = {},
  ): Promise<void> {
    const { purpose, secondFactor = false } = holder.recovery;
    const { id, name } = holder.seen;
    const view = viewOf(ctx);
    const options = (await makesPasskey(holder))
      ? registration.options(holder.seen, view.csrf, await stores.passkeys.of(id))
      : undefined;
    const props = { action: ctx.path, name, purpose, secondFactor, ...more };
    answerWith(ctx, recoverPage(view, { ...props, ...(options !== undefined && { options }) }));
  }

  /** Uses the link up in one step with the work of `set`, and answers that it is done. */
  async function use(
    ctx: Context,
    seen: PersonRecord,
    by: RecoveredProps['by'],
    set: (acting: PagesServer, used: AuditEvent) => Promise<unknown>,
  ) {
    const recovery = await links.redeem(secretOf(ctx));
    const view = viewOf(ctx);
    const now = recovery && (await stores.people.get(recovery.person));
    if (recovery === undefined || now === undefined || !isTheirs(recovery, now)) {
      return late(ctx);
    }
    const acting = asHolder(server, ctx, recovery.person);
    const { person, purpose, secondFactor = false } = recovery;
    try {
      await set(acting, { kind: 'link.used', person, what: purpose });
    } catch (error) {
      // Changed or removed meanwhile.
      if (error instanceof PeopleError) throw expired(TO_ACCOUNT, 409);
      throw error;
    }
    // This comes last, so that the former password alone is never enough.
    const tell = (kind: MailKind) => notify(server, recovery.person, kind, view.language);
    const gone = { kind: 'second-factor.removed', person: recovery.person } as const;
    const factors = acting.recorder.changing('secondFactors', gone);
    if (secondFactor && (await factors.remove(recovery.person))) {
      await tell('second-factor-removed');
    }
    if (recovery.address !== undefined) await verifySentTo(server, seen, recovery.address);
    await tell(by === 'passkey' ? 'passkey-added' : passwordNotice(seen));
    noteDone(ctx);
    answerWith(ctx, recoveredPage(view, { by, purpose, account: TO_ACCOUNT.href }));
  }

  /** Answers that the link was used, perhaps by the same form. */
  function late(ctx: Context): void {
    noteLate(ctx);
    answerWith(ctx, recoveryGonePage(viewOf(ctx)));
  }

  async function withPassword(ctx: Context, holder: Holder, form: URLSearchParams) {
    const password = form.get('password') ?? '';
    const judged = await judgePassword(password);
    if ('fault' in judged) return showForm(ctx, holder, { problem: { kind: judged.fault } });
    await use(ctx, holder.seen, 'password', (acting, used) =>
      changePasswordAndEnd(acting, holder.seen, password, used),
    );
  }

  /** Sets a passkey in place of the password, which is removed. */
  async function withPasskey(ctx: Context, holder: Holder, form: URLSearchParams) {
    const { seen } = holder;
    if (!(await makesPasskey(holder))) throw new PageError(400, 'request');
    const checked = await registration.check(ctx, seen.id, answerIn(form));
    if ('problem' in checked) return showForm(ctx, holder, { passkeyProblem: checked.problem });
    const passkeys = await stores.passkeys.of(seen.id);
    if (passkeys.length >= MOST_PASSKEYS) {
      return showForm(ctx, holder, { passkeyProblem: 'full' });
    }
    const texts = textsOf(viewOf(ctx).language);
    const program = programName(ctx.get('User-Agent'), texts) || texts.account.someBrowser;
    const name = freeName(passkeys, program);
    await use(ctx, seen, 'passkey', async (acting, used) => {
      const passkey = registration.record(seen.id, checked.made, name);
      const problem = await registration.keep(acting.recorder, passkey, used);
      if (problem !== undefined) throw expired(TO_ACCOUNT, 409);
      await removePasswordAndEnd(acting, seen);
    });
  }

  return {
    async show(ctx) {
      const holder = await holderOf(secretOf(ctx));
      if (holder === undefined) return answerWith(ctx, recoveryGonePage(viewOf(ctx)));
      await showForm(ctx, holder);
    },

    async recover(ctx) {
      const form = await checkForm(ctx);
      const holder = await holderOf(secretOf(ctx));
      if (holder === undefined) return late(ctx);
      const isPasskey = (form.get('passkey') ?? '') !== '';
      await (isPasskey ? withPasskey : withPassword)(ctx, holder, form);
    },
  };
}
