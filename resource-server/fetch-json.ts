import { request } from 'undici';

const MILLISECONDS = 5000;

/** The JSON behind a URL. Rejects for any answer but 200, and when it takes over five seconds. */
export async function fetchJson(url: string): Promise<unknown> {
  const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(MILLISECONDS) });
  if (statusCode === 200) return body.json();
  await body.dump();
  throw new Error(`${url} answered ${statusCode}`);
}
