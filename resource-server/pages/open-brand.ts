import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Config } from '#shared/config/schema.ts';
import type { Brand } from '#shared/pages/document.ts';

/** The longest logo in bytes, which is sent with each page. */
const LONGEST = 32_768;
const TYPES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' };

/**
 * Opens the appearance of this server's pages.
 * The logo is embedded: URLs here belong to applications, and a URL at the authorization server would reveal to that
 * server which pages a person visits. A logo that is too long is left out. A link that is a path leads to the origin of
 * the issuer, as on that server's pages.
 */
export async function openBrand({
  brand: { logo: file, ...look },
  issuer,
}: Pick<Config, 'brand' | 'issuer'>): Promise<Brand> {
  const links = look.links.map(({ text, url }) => ({ text, url: new URL(url, issuer).href }));
  const brand = { ...look, links };
  const picture = file === undefined ? undefined : await readFile(file).catch(() => undefined);
  if (file === undefined || picture === undefined || picture.length > LONGEST) return brand;
  return { ...brand, logo: `data:${TYPES[extname(file)]};base64,${picture.toString('base64')}` };
}
