import * as z from 'zod';

/** Base64url without padding, as long as it may be: a form has 16 KiB. */
const octets = z.string().regex(/^[\w-]{1,12288}$/);
/** A credential ID has at most 1,023 octets (WebAuthn section 5.8.3). */
const id = z.string().regex(/^[\w-]{1,1364}$/);
const common = { id, rawId: id, type: z.literal('public-key') };

/** The answer of an authenticator that makes a passkey (WebAuthn section 5.1, RegistrationResponseJSON). */
const created = z.object({
  ...common,
  response: z.object({ clientDataJSON: octets, attestationObject: octets }),
});

/** The answer of an authenticator that uses one (AuthenticationResponseJSON). */
const used = z.object({
  ...common,
  response: z.object({
    clientDataJSON: octets,
    authenticatorData: octets,
    signature: octets,
    userHandle: octets.nullish(),
  }),
});

const clientData = z.object({ challenge: z.string().max(1024) });

export type Created = z.infer<typeof created>;
export type Used = z.infer<typeof used>;

/**
 * Parses the answer of an authenticator that makes a passkey, and verifies nothing. Undefined: it is no such answer.
 */
export const parseCreated = (text: string): Created | undefined => parsed(created, text);
export const parseUsed = (text: string): Used | undefined => parsed(used, text);

/** Returns the challenge that an answer is to; '' if it names none. */
export function challengeOf({ response: { clientDataJSON } }: Created | Used): string {
  const text = Buffer.from(clientDataJSON, 'base64url').toString();
  return parsed(clientData, text)?.challenge ?? '';
}

function parsed<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
