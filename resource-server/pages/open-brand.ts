import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Config } from '#shared/config/schema.ts';
import type { Brand } from '#shared/pages/document.ts';

/** The longest logo, in bytes, since it is sent with each page. */
const LONGEST = 32_768;
const TYPES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' };

/**
 * Opens the appearance of this server's pages. The logo is embedded: URLs here belong to applications, and a URL
 * at the authorization server would tell that server who visits what. A logo that is too long is left out.
 */
export async function openBrand({ logo: file, ...brand }: Config['brand']): Promise<Brand> {
  const picture = file === undefined ? undefined : await readFile(file).catch(() => undefined);
  if (file === undefined || picture === undefined || picture.length > LONGEST) return brand;
  return { ...brand, logo: `data:${TYPES[extname(file)]};base64,${picture.toString('base64')}` };
}
