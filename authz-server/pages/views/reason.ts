import { type Html, html } from '#shared/pages/html.ts';
import type { View } from '../frame/view.ts';
import { messageWord } from '../texts/admin/messages.ts';
import { textsOf } from '../texts/index.ts';

/** Why something was refused, in the language of the page; where there are no words for it, in English, and it says so. */
export const reason = ({ language }: View, message: string): Html | string =>
  messageWord(language, message) ??
  html`${textsOf(language).admin.inEnglish} <span lang="en">${message}</span>`;
