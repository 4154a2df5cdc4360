import type { OutreachStream } from './stream-record.ts'

type Text = { readonly subject: string | null; readonly body: string }
type Role = 'text' | 'follow_up' | 'issue' | 'answer'

const answerBrief = 'Answer what the person wrote, in a few friendly sentences.'

/** The text of the stream that a message is made from. */
export const textOf = (
  { texts, follow_up, issue_texts }: Pick<OutreachStream, 'texts' | 'follow_up' | 'issue_texts'>,
  role: Role,
  number: number,
): Text => {
  const first = texts[0] ?? { subject: null, body: '' }
  switch (role) {
    case 'text':
      return texts[number] ?? first
    case 'follow_up':
      return follow_up ?? first
    case 'issue':
      return issue_texts?.[0] ?? first
    case 'answer':
      return { subject: first.subject, body: answerBrief }
  }
}

/** Fills in `{{first_name}}`, and what the list says of the person by the name of its column. What is not known is left out. */
export const filledIn = (text: string, values: Readonly<Record<string, string | null>>): string =>
  text.replaceAll(/[ \t]?\{\{\s*([\w .-]{1,64}?)\s*\}\}/g, (match, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : null
    if (!value) return ''
    return match.startsWith('{') ? value : ` ${value}`
  })
