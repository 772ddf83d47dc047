import type { TLSSocket } from 'node:tls';
import { exchangeOver, type Message, noAnswer, type Reply } from './send.ts';

/**
 * Sends a message over TLS, with fields that depend on its connection. Rejects with `NoAnswer`, or with the error of
 * `fieldsOf`.
 */
export async function sendBound(
  message: Message,
  fieldsOf: (socket: TLSSocket) => Readonly<Record<string, string>>,
  most: number,
): Promise<Reply> {
  const { openOnTls } = await import('./client.ts');
  const { client, socket } = await openOnTls(new URL(message.url)).catch((error: unknown) => {
    throw noAnswer(message, error);
  });
  try {
    const fields = { ...message.fields, ...fieldsOf(socket) };
    const options = { most, signal: null };
    return await exchangeOver(client, { ...message, fields }, options).catch((error: unknown) => {
      throw noAnswer(message, error);
    });
  } finally {
    socket.destroy();
  }
}
