import { p256Point } from '#shared/auth/schemes/vapid/vapid.ts';
import { URGENCIES } from '#shared/stores/push/push.ts';
import { type Command, type Input, UsageError } from '../arguments/command.ts';
import { wholeNumber } from '../arguments/whole-number.ts';
import { parseSafeUrl } from '../oauth/http.ts';
import { showPush } from '../push/show.ts';

export const push: Command = {
  name: 'push',
  summary: 'subscribe at a push service, and show messages as they come',
  operands: ['URL'],
  options: {
    key: {
      value: 'KEY',
      help: 'the public key of the only application server that may send, in base64url (vapid)',
    },
    urgency: {
      value: 'URGENCY',
      help: `the least urgency of messages: ${URGENCIES.join(', ')}; default: ${URGENCIES[0]}`,
    },
    count: { value: 'N', help: 'end after N messages; default: go on until Ctrl-C' },
  },
  details: [
    'URL is the URL of the push service, such as https://localhost:3443/push/. The subscription is made with the token of',
    '`countersign login --scope push --resource URL`.',
    'The first line is for the application server: the endpoint and keys, in the form that browsers and web-push use.',
    'The text of each message follows on a line of its own, decrypted (RFC 8291). The command deletes a message once it is',
    'shown, and connects again if the connection breaks. With --json each line is an object.',
    'Ctrl-C deletes the subscription and its waiting messages.',
  ],
  run: async (input, shell) => {
    const urgency = urgencyIn(input);
    const asked = {
      service: serviceIn(input),
      key: keyIn(input),
      count: wholeNumber(input, 'count', 1, 999_999_999) ?? Infinity,
      fields: { ...(urgency !== undefined && { urgency }) },
    };
    return { slices: showPush(asked, shell), apart: true };
  },
};

function serviceIn({ operands: [text = ''] }: Input): string {
  const url = parseSafeUrl(text);
  if (url === undefined || text.includes('?')) {
    throw new UsageError(
      'URL must be https, or http on this machine, without user, query and fragment',
    );
  }
  return url.href.replace(/\/?$/, '/');
}

function keyIn(input: Input): string | undefined {
  const text = input.text('key');
  if (text === undefined || p256Point(text) !== undefined) return text;
  throw new UsageError('--key must be base64url of an uncompressed point of P-256 (RFC 8292)');
}

function urgencyIn(input: Input): string | undefined {
  const text = input.text('urgency');
  if (text === undefined || URGENCIES.some((one) => one === text)) return text;
  throw new UsageError(`--urgency must be one of ${URGENCIES.join(', ')}`);
}
