import type { Clock } from '#shared/base/clock.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Language } from '#shared/pages/language.ts';
import type { OutboxMessage } from '#shared/stores/mail/outbox.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { isNotice, type MailKind } from './kinds.ts';

/** Milliseconds after which a message is no longer sent. */
const WORTH = { notice: 3 * 86_400_000, link: 3_600_000 };

/**
 * The limit of notices of one kind to one person. Further notices are combined in one message, an hour after the
 * first of them.
 */
const NOTICES: Rate = { burst: 3, per: 1200 };
const SUMMARY = 3_600_000;

export interface NotifyServer {
  readonly config: Pick<Config, 'mail'>;
  readonly stores: Pick<Stores, 'outbox' | 'limits'>;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Queues a message to a person, if mail is configured; it is stored when this resolves. The mail server is not
 * contacted here, so its failures and its speed do not affect an answer. `to`: the address, if it is not the person's
 * verified address.
 */
export async function notify(
  { config, stores, clock, random }: NotifyServer,
  accountId: string,
  kind: MailKind,
  language: Language,
  more: Pick<OutboxMessage, 'origin' | 'to'> = {},
): Promise<void> {
  if (config.mail === undefined) return;
  const created_at = clock.now();
  const message = { accountId, kind, language, created_at, ...more };
  if (!isNotice(kind)) {
    // Only one link of each kind waits for an address, so that many requests cause one message.
    const id = [kind, accountId, ...(more.to === undefined ? [] : [more.to])].join(' ');
    await stores.outbox.add({ ...message, id, until: created_at + WORTH.link });
  } else if ((await stores.limits.spend('notices', `${kind} ${accountId}`, NOTICES)).ok) {
    const id = `${kind} ${randomId(random)}`;
    await stores.outbox.add({ ...message, id, until: created_at + WORTH.notice });
  } else {
    const due = created_at + SUMMARY;
    const id = `again ${kind} ${accountId}`;
    await stores.outbox.add({ ...message, id, due, until: due + WORTH.notice, again: true });
  }
}
