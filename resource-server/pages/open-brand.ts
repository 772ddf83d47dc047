import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Config } from '#shared/config/schema.ts';
import type { Brand } from '#shared/pages/document.ts';

/** Octets of a logo that is sent with each page. */
const LONGEST = 32_768;
const TYPES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' };

/**
 * What the pages at this server look like. The logo is in the page itself: addresses here belong to applications, and
 * one at the authorization server would tell that server who visits what. One that is too long is left out.
 */
export async function openBrand({ logo: file, ...brand }: Config['brand']): Promise<Brand> {
  const picture = file === undefined ? undefined : await readFile(file).catch(() => undefined);
  if (file === undefined || picture === undefined || picture.length > LONGEST) return brand;
  return { ...brand, logo: `data:${TYPES[extname(file)]};base64,${picture.toString('base64')}` };
}
