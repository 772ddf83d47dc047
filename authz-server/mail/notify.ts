import { randomId } from '#shared/base/random.ts';
import type { Language } from '#shared/pages/language.ts';
import type { MessageOrigin } from '#shared/stores/mail/outbox.ts';
import type { PagesServer } from '../base/server.ts';
import type { MailKind } from './texts.ts';

/** Milliseconds for which a message is worth sending. */
const WORTH = { notice: 3 * 86_400_000, recovery: 3_600_000 };

/**
 * Lets a message to a person wait to be sent, if mail is configured. It is kept when this resolves. The mail server is not
 * asked here: neither its silence nor its speed shows in an answer.
 */
export async function notify(
  { config, stores, clock, random }: Pick<PagesServer, 'config' | 'stores' | 'clock' | 'random'>,
  accountId: string,
  kind: MailKind,
  language: Language,
  origin?: MessageOrigin,
): Promise<void> {
  if (config.mail === undefined) return;
  const created_at = clock.now();
  // Only one recovery of a person waits at a time, so that many requests make one message.
  const isRecovery = kind === 'recovery';
  const id = `${kind} ${isRecovery ? accountId : randomId(random)}`;
  const until = created_at + (isRecovery ? WORTH.recovery : WORTH.notice);
  await stores.outbox.add({
    id,
    accountId,
    kind,
    language,
    created_at,
    until,
    ...(origin && { origin }),
  });
}
