import { ask } from '#shared/server/wire/ask.fixture.ts';

/** Works like `fetch`, but through supertest, which follows no redirect and adds no field of a browser. */
export async function fetched(url: string, init?: RequestInit): Promise<Response> {
  const request = new Request(url, init);
  const { port, pathname, search } = new URL(url);
  const content = Buffer.from(await request.arrayBuffer());
  const { status, raw, text } = await ask(Number(port), request.method, pathname + search, {
    headers: Object.fromEntries(request.headers),
    ...(request.body && { body: content }),
  });
  const headers = new Headers();
  for (let at = 0; at < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '');
  return new Response(text === '' ? null : text, { status, headers });
}
