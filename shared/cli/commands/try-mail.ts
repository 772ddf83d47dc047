import { loadConfig } from '#shared/config/load.ts';
import { openMail } from '#shared/mail/transport.ts';
import { mailAddress } from '#shared/people/names/mail-address.ts';
import { type Command, Failure, UsageError } from '../arguments/command.ts';

export const mailTest: Command = {
  name: 'mail test',
  summary:
    'send a test message through the mail server of the setting `mail`, and print its answer',
  operands: ['ADDRESS'],
  details: [
    'The command sends the message at once, without the queue. If the answer begins with 2, the mail server accepted it:',
    'check that the message arrives in the mailbox, or in its spam folder.',
  ],
  run: async ({ operands: [typed = ''] }, { env }) => {
    const to = mailAddress(typed);
    if (to === undefined) throw new UsageError('ADDRESS must be such as alice@example.com');
    const config = await loadConfig(env);
    const { brand, mail } = config;
    if (mail === undefined) throw new Failure('mail is not configured');
    const send = await openMail(config);
    const subject = `${brand.name}: test`;
    const text = `This is a test of the mail of ${brand.name}. There is nothing to do.\n`;
    try {
      const answer = await send({ to, subject, text });
      return { json: { to, answer }, lines: [`to: ${to}`, `answer: ${answer}`] };
    } catch (error) {
      throw new Failure(`${mail.host}:${mail.port}: ${String(error)}`);
    }
  },
};
