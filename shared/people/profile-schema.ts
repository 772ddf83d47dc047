import * as z from 'zod';
import { addressKey, mailAddress } from './names/mail-address.ts';
import { isVisibleName } from './names/visible-name.ts';
import type { Words } from '#shared/refusals/words.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** The most octets or items of each member, since tokens, fields and pages contain all of them. */
const MOST = {
  picture: 1024,
  emails: 10,
  groups: 100,
  groupOctets: 4096,
  attributes: 64,
  attributeOctets: 256,
};

/** Matches a group as fields to applications can carry it: these separate groups by commas. */
const GROUP = /^[^\p{C}\p{Zl}\p{Zp},]{1,64}$/u;

const ATTRIBUTE_NAME = /^[A-Za-z][\w.-]{0,63}$/;

/** Matches a text that is visible in one line. */
const LINE = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;

const octets = (text: string) => Buffer.byteLength(text);

const once = (texts: readonly string[]) => new Set(texts).size === texts.length;

/** Returns a language tag in canonical form (RFC 5646); undefined if the text is none. */
function canonicalLocale(text: string): string | undefined {
  try {
    return text.length <= 64 ? Intl.getCanonicalLocales(text)[0] : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the URL of a picture in the form of `URL`; undefined if a browser could not fetch it. */
function pictureUrl(text: string): string | undefined {
  const url = URL.parse(text);
  const fits =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    octets(url.href) <= MOST.picture;
  return fits ? url.href : undefined;
}

/** Returns the schema of a text that `make` turns into a value; undefined means the mistake `words`. */
const made = (make: (text: string) => string | undefined, words: Words) =>
  z.string().transform((text, context) => {
    const value = make(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: words.message, words });
    return z.NEVER;
  });

/** An address has no comma either: fields and the command line separate addresses by commas. */
const address = made(mailAddress, said('mail-address'));

/** The name of a group, in its stored form. */
export const groupName = z
  .string()
  .normalize('NFC')
  .refine(isGroup, fault(said('group-name')));

/** Whether a text in NFC can be the name of a group. */
export function isGroup(text: string): boolean {
  return GROUP.test(text) && text.trim() === text;
}

/** Whether a text can be the name of an attribute. */
export const isAttributeName = (text: string): boolean => ATTRIBUTE_NAME.test(text);

/** Whether a text can be the value of an attribute: visible, in one line, of 1 to 256 octets. */
export const isAttributeValue = (text: string): boolean =>
  octets(text) <= MOST.attributeOctets && text.trim() === text && LINE.test(text);

const attribute = z.strictObject({
  name: z.string().refine(isAttributeName, fault(said('attribute-name'))),
  value: z
    .string()
    .normalize('NFC')
    .refine(isAttributeValue, fault(said('attribute-value', { most: MOST.attributeOctets }))),
});

/** A `Profile` in the form of operators and files. */
export const profileSchema = z.strictObject({
  display_name: z
    .string()
    .refine(isVisibleName, fault(said('visible-name')))
    .exactOptional(),
  emails: z
    .array(z.strictObject({ address, verified: z.boolean() }))
    .max(MOST.emails, fault(said('too-many', { most: MOST.emails })))
    .refine(
      (emails) => once(emails.map((email) => addressKey(email.address))),
      fault(said('each-once')),
    )
    .exactOptional(),
  groups: z
    .array(groupName)
    .max(MOST.groups, fault(said('too-many', { most: MOST.groups })))
    .refine(once, fault(said('each-once')))
    .refine(
      (groups) => octets(groups.join()) <= MOST.groupOctets,
      fault(said('too-many-octets', { most: MOST.groupOctets })),
    )
    .exactOptional(),
  locale: made(canonicalLocale, said('language-tag')).exactOptional(),
  picture: made(pictureUrl, said('picture-url', { most: MOST.picture })).exactOptional(),
  attributes: z
    .array(attribute)
    .max(MOST.attributes, fault(said('too-many', { most: MOST.attributes })))
    .refine((all) => once(all.map(({ name }) => name)), fault(said('each-once')))
    .exactOptional(),
});
