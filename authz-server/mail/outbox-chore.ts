import type { Log } from '#shared/base/log.ts';
import { MailRefused, type SendMail } from '#shared/mail/transport.ts';
import type { Chore } from '#shared/server/chore.ts';
import type { TakenMessage } from '#shared/stores/mail/outbox.ts';
import { type MailServer, write } from './written.ts';

/** Seconds between two checks for waiting messages. */
const EVERY = 1;
/** The most messages per check, which are sent one after another. */
const AT_A_TIME = 10;
/**
 * Milliseconds for which the messages belong to this process: longer than all attempts take if no mail server answers.
 */
const OURS = 300_000;
/** The pause in milliseconds before the second attempt. It doubles each time, up to the maximum. */
const WAIT = { first: 10_000, most: 3_600_000 };

/** Sends waiting messages. If the mail server is down or the process is killed, a message is delayed and not lost. */
export function outboxChore(server: MailServer, send: SendMail, log: Log): Chore {
  const { stores, clock } = server;

  async function deliver(message: TakenMessage): Promise<void> {
    const { id, kind, accountId: subject, attempt } = message;
    const now = clock.now();
    if (message.until <= now) {
      await stores.outbox.remove(id);
      return log.warn('mail.given-up', {
        subject,
        reason: `${kind}, after ${attempt - 1} attempts`,
      });
    }
    const mail = await write(server, message);
    try {
      if (mail !== undefined) {
        await send(mail);
        log.info('mail.sent', { subject, reason: kind });
      }
      await stores.outbox.remove(id);
    } catch (error) {
      const reason = `${kind}: ${String(error)}`;
      if (error instanceof MailRefused) {
        await stores.outbox.remove(id);
        return log.warn('mail.refused', { subject, reason });
      }
      const wait = Math.min(WAIT.first * 2 ** (attempt - 1), WAIT.most);
      await stores.outbox.postpone(id, now + wait);
      log.warn('mail.postponed', { subject, reason });
    }
  }

  return {
    name: 'mail',
    seconds: EVERY,
    async run() {
      const now = clock.now();
      for (const message of await stores.outbox.take(now, now + OURS, AT_A_TIME)) {
        await deliver(message);
      }
    },
  };
}
