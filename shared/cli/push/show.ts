import { isUtf8 } from 'node:buffer';
import { CLI } from '#shared/base/invocation.ts';
import { openSend } from '#shared/client/send.ts';
import type { OutputSlice, Shell } from '../arguments/command.ts';
import { sendUnhurried } from '../oauth/http.ts';
import { createReceiver, decrypt, type Receiver } from './decrypt.ts';
import { messagesOf, type PushMessage, type Waiting } from './messages.ts';
import { remove, subscribe } from './subscribe.ts';

/** A subscription that is asked for. */
export interface PushRequest extends Pick<Waiting, 'fields'> {
  /** URL of the push service, which ends in a slash. */
  readonly service: string;
  /** Key of the only application server that may send. */
  readonly key: string | undefined;
  /** Messages after which it ends. */
  readonly count: number;
}

/** Makes a subscription, and yields it and then its messages. Deletes it at the end. Throws `Failure`. */
export async function* showPush(
  { service, key, count, fields }: PushRequest,
  shell: Shell,
): AsyncGenerator<OutputSlice, void, void> {
  const receiver = createReceiver(shell.random);
  const subscription = await subscribe(sendUnhurried, service, key, shell);
  const signal = AbortSignal.any(shell.ending ? [shell.ending()] : []);
  await using send = openSend();
  try {
    yield slice(forSender(subscription.endpoint, receiver));
    shell.note('Waiting for messages. Ctrl-C ends the subscription.');
    let shown = 0;
    /** URLs of messages that were shown, and are still there. */
    const left = new Set<string>();
    for await (const message of messagesOf(subscription.url, { fields, signal }, shell)) {
      const { url } = message;
      if (!left.has(url)) {
        const content = contentOf(message, receiver);
        if (content) {
          yield shownAs(message, content);
          shown += 1;
        } else {
          shell.note('A message cannot be decrypted with the keys of this subscription: deleted.');
        }
        left.add(url);
      }
      await remove(send, url).then(
        () => left.delete(url),
        (error: Error) => shell.note(`A message is not acknowledged yet: ${error.message}`),
      );
      if (shown === count) return;
    }
  } finally {
    await remove(send, subscription.url).catch((error: Error) =>
      shell.note(
        `The subscription is not deleted: ${error.message}. It ends with the login: ${CLI} logout`,
      ),
    );
  }
}

/** In the form in which browsers give a subscription to an application server (PushSubscription.toJSON of Push API). */
const forSender = (endpoint: string, { ecdh, auth }: Receiver) => ({
  endpoint,
  keys: { p256dh: ecdh.getPublicKey('base64url'), auth: auth.toString('base64url') },
});

/** Undefined: it cannot be decrypted. */
function contentOf({ coding, body }: PushMessage, receiver: Receiver): Buffer | undefined {
  if (coding === undefined) return body;
  return coding.toLowerCase() === 'aes128gcm' ? decrypt(body, receiver) : undefined;
}

function shownAs({ type, coding }: PushMessage, content: Buffer): OutputSlice {
  const text = content.toString();
  const encrypted = coding !== undefined;
  const said = isUtf8(content) ? { text } : { base64url: content.toString('base64url') };
  return { json: [{ ...said, type, encrypted }], lines: [text] };
}

const slice = (value: object): OutputSlice => ({ json: [value], lines: [JSON.stringify(value)] });
