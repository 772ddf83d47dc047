import * as z from 'zod';

const LONGEST_URL = 2_048;

/** A path at the same origin. Browsers read `//` and `/\` as the beginning of another host. */
const PATH = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/;

function isLinkTarget(url: string): boolean {
  if (url.length > LONGEST_URL) return false;
  if (PATH.test(url)) return true;
  if (!/^https:\/\/(?!\/)[\x21-\x5b\x5d-\x7e]+$/.test(url) || !URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username === '' && password === '';
}

const link = z.strictObject({
  text: z
    .strictObject({
      en: z.string().min(1).max(60).describe('In English.'),
      de: z.string().min(1).max(60).optional().describe('In German. Default: the English text.'),
    })
    .describe('Words of the link.'),
  url: z
    .string()
    .refine(isLinkTarget, {
      error: 'must be an https URL without a user, or a path such as /terms',
    })
    .describe('An `https` URL, or a path at the origin of `issuer`.'),
});

/** The setting `brand`: the operator's name, logo, colours and links on the pages of both servers. */
export const brandSchema = z
  .strictObject({
    name: z.string().min(1).max(60).default('Countersign').describe('Name on every page.'),
    logo: z
      .string()
      .regex(/\.(svg|png)$/, 'must be an .svg or .png file')
      .optional()
      .describe(
        'Picture beside the name (SVG or PNG). The resource server shows a picture of at most 32 KiB.',
      ),
    color: z
      .string()
      .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #1f5fbf')
      .default('#1f5fbf')
      .describe('Colour of buttons, links and focus marks.'),
    docs: z
      .url({ protocol: /^https?$/, error: 'must be a URL' })
      .max(LONGEST_URL)
      .endsWith('/', 'must end in a slash')
      .optional()
      .describe(
        'URL at which people read the files of `docs/`, with a slash at its end. The playground links to these files.',
      ),
    links: z
      .array(link)
      .max(6)
      .default([])
      .describe(
        'Links at the foot of every page, such as terms, privacy and help; at most six. Each has `text`, in English (`en`) and perhaps German (`de`), and `url`: an https URL, or a path at the origin of `issuer`.',
      ),
  })
  .prefault({})
  .describe('Name, logo, colours and links on the pages of both servers.');
