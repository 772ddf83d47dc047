import * as z from 'zod';
import { profileSchema } from '#shared/people/profile-schema.ts';
import { SPELLINGS } from '../texts.ts';

const { display_name, emails, groups, locale, picture, attributes } = profileSchema.shape;

/** Reads an address of the command line, which the suffix `,verified` marks as verified. */
function emailFrom(text: string) {
  const address = text.replace(/,verified$/, '');
  return { address, verified: address !== text };
}

/** Reads an attribute of the command line. */
function attributeFrom(text: string) {
  const [name = '', ...value] = text.split('=');
  return { name, value: value.join('=') };
}

/** The members that applications may learn about a person. */
export const profileMembers = {
  display_name: display_name
    .describe('the name of the person that other people see')
    .register(SPELLINGS, { value: 'NAME' }),
  emails: emails
    .describe('an address; the first is the primary address. verified: you know that it is theirs')
    .register(SPELLINGS, { option: 'email', value: 'ADDRESS[,verified]', read: emailFrom }),
  groups: groups
    .describe('a group of the person')
    .register(SPELLINGS, { option: 'group', value: 'GROUP' }),
  locale: locale
    .describe('the language of the person, such as en-GB')
    .register(SPELLINGS, { value: 'TAG' }),
  picture: picture
    .describe('the URL of a picture of the person')
    .register(SPELLINGS, { value: 'URL' }),
  attributes: attributes
    .describe(
      'what else you keep of the person, for standard claims of this name and client set --claim',
    )
    .register(SPELLINGS, { option: 'attribute', value: 'NAME=VALUE', read: attributeFrom }),
};

/** The members of a profile in results. */
export const profileShown = {
  display_name: z.string().exactOptional(),
  emails: z.array(z.strictObject({ address: z.string(), verified: z.boolean() })).exactOptional(),
  groups: z.array(z.string()).exactOptional(),
  locale: z.string().exactOptional(),
  picture: z.string().exactOptional(),
  attributes: z.array(z.strictObject({ name: z.string(), value: z.string() })).exactOptional(),
};
