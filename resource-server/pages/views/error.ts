import type { Answer } from '#shared/http/answer.ts';
import type { Frame } from '#shared/pages/document.ts';
import { errorPage as page } from '#shared/pages/error-page.ts';
import { textsOf } from '../texts/index.ts';

export interface ErrorProps {
  readonly status: number;
  /** The detail of the problem details that the page replaces. */
  readonly detail: string;
  readonly id: string | undefined;
}

/** The page that shows an error to a person. */
export function errorPage(frame: Frame, props: ErrorProps): Answer {
  const { errors } = textsOf(frame.language);
  const { title, text } = errors[props.status] ?? errors[props.status < 500 ? 4 : 5] ?? NO_WORDS;
  return page(frame, { ...props, title, text });
}

const NO_WORDS = { title: '', text: '' };
