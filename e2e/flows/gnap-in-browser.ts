import { randomUUID } from 'node:crypto';
import { signedBy, testKey } from '#shared/gnap/client.fixture.ts';

/**
 * Asks for a person's identity, as an unregistered GNAP client that finishes at `uri` (RFC 9635 section
 * 2.5.2.1). Resolves to the page on which the person decides.
 */
export async function askByGnap(issuer: string, uri: string): Promise<string> {
  const key = testKey();
  const url = `${issuer}/gnap`;
  const json = {
    client: { key: key.byValue },
    subject: { sub_id_formats: ['opaque'] },
    interact: { start: ['redirect'], finish: { method: 'redirect', uri, nonce: randomUUID() } },
  };
  const asked = { method: 'POST', url, json };
  const { fields: headers, content = '' } = signedBy(key, asked, Math.floor(Date.now() / 1000));
  const response = await fetch(url, { method: 'POST', headers, body: content });
  const told = (await response.json()) as { readonly interact?: { readonly redirect: string } };
  if (told.interact === undefined) throw new Error(JSON.stringify(told));
  return told.interact.redirect;
}
