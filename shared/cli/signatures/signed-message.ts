import { epochSeconds, type Clock } from '#shared/base/clock.ts';
import type { Message } from '#shared/client/send.ts';
import { signedRequest } from '#shared/signatures/signed-request.ts';
import { readSigningJwk } from './jwk-file.ts';

/** Returns the message with a signature by the private JWK in a file (`signedRequest`). Throws `Failure`. */
export async function signedMessage(
  message: Message,
  file: string,
  tag: string | undefined,
  clock: Clock,
): Promise<Message> {
  const by = await readSigningJwk(file);
  const { fields = {} } = message;
  const signature = signedRequest({ ...message, fields }, by, {
    tag,
    created: epochSeconds(clock),
  });
  return { ...message, fields: { ...fields, ...signature } };
}
