import { z } from 'zod'
import { startStandIn, type StandInAnswer } from './stand-in.ts'

const Asked = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.enum(['system', 'user']), content: z.string() })).min(1),
})
const Wanted = z.array(z.object({ key: z.string(), label: z.string() }))

/** The content of the lead decides how the model fails. */
const magic: Readonly<Record<string, StandInAnswer>> = {
  '[[unavailable]]': { status: 503, body: { error: { message: 'The server is overloaded' } } },
  '[[rate limit]]': { status: 429, body: { error: { message: 'Rate limit reached', type: 'requests' } } },
  '[[silence]]': 'hang',
}

const completed = (content: string, asked: string): StandInAnswer => ({
  status: 200,
  body: {
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
    usage: { total_tokens: Math.ceil((asked.length + content.length) / 4) },
  },
})

/** Finds what stands after the name of a fact: "Cover is £250,000", "smoker: no". */
const factsIn = (instructions: string, material: string): Record<string, string> => {
  const listed = /These facts are wanted: (\[.*\])$/s.exec(instructions)?.[1]
  const wanted = Wanted.safeParse(listed === undefined ? [] : JSON.parse(listed)).data ?? []
  return Object.fromEntries(
    wanted.flatMap(({ key, label }) => {
      const name = label.replaceAll(/[^\w ]/g, '.')
      const said = new RegExp(`\\b${name}\\b\\s*(?:is|:|=)\\s*([^.;,\\\\"]+(?:,\\d{3})*)`, 'i').exec(material)?.[1]
      return said === undefined ? [] : [[key, said.trim()]]
    }),
  )
}

/** Speaks the chat completions of OpenAI. What a lead gives between `[[answer` and `]]` is answered as it stands. */
export const startLeadReader = (port?: number) =>
  startStandIn(({ method, url, header, text }) => {
    if (method !== 'POST' || !url.pathname.endsWith('/chat/completions'))
      return { status: 404, body: { error: { message: 'Unknown request' } } }
    if (!header('authorization')?.startsWith('Bearer '))
      return { status: 401, body: { error: { message: 'Incorrect API key provided' } } }
    const asked = Asked.safeParse(JSON.parse(text)).data
    if (!asked) return { status: 400, body: { error: { message: 'Invalid request' } } }
    const contentOf = (role: string) => asked.messages.find((message) => message.role === role)?.content ?? ''
    const material = contentOf('user')
    const failing = Object.keys(magic).find((each) => material.includes(each))
    if (failing !== undefined) return magic[failing] ?? 'hang'
    const told = /\[\[answer (.*?)\]\]/s.exec(material)?.[1]
    // It stands within a JSON text.
    const answer =
      told === undefined ? JSON.stringify({ facts: factsIn(contentOf('system'), material) }) : unquoted(told)
    return completed(answer, text)
  }, port)

const unquoted = (text: string): string => z.string().parse(JSON.parse(`"${text}"`))
