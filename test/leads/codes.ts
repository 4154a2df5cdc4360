import { expect } from 'vitest'
import { statusOf } from '#infra/http/problem.ts'
import type { ErrorCode } from '#domain/rejection.ts'
import { currentDocument } from '../../scripts/openapi.ts'
import type { Answer } from '../whole-service.ts'

/** By operation, requests under the code that each is answered with, the input that it names, and why: `code input: why`. */
export type Refused<Asked> = Readonly<Record<string, Readonly<Record<string, () => Asked>>>>

export const codeOf = (title: string) => (/^\w+/.exec(title)?.[0] ?? '') as ErrorCode
const fieldOf = (title: string) => /^\w+ ([^:]+)/.exec(title)?.[1]

/** What an answer with the code of this title is, and which one input it names. */
export const refusal = (title: string) => {
  const [code, field] = [codeOf(title), fieldOf(title)]
  const inputs = field === undefined ? {} : { inputs: [field] }
  return { title, status: statusOf[code], code, message: expect.stringMatching(/\.$/) as string, ...inputs }
}

export const refused = (title: string, { status, body: { error } }: Answer) => {
  const { code, message, fields = {} } = error ?? {}
  return { title, status, code, message, inputs: Object.keys(fields) }
}

type Operation = {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }

/** The operations of these addresses, as the document names them. */
export const documented = (isWanted: (address: string) => boolean): readonly (readonly [string, Operation])[] =>
  Object.entries((JSON.parse(currentDocument()) as Document).paths)
    .filter(([address]) => isWanted(address))
    .flatMap(([address, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method} ${address}`, operation] as const),
    )

/** The codes by operation that the document names, but for what every operation answers while the store is away. */
export const documentedCodes = (isWanted: (address: string) => boolean) =>
  Object.fromEntries(
    documented(isWanted).map(([operation, { responses }]) => {
      const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400)
      return [
        operation,
        errors
          .flatMap(([, { description }]) => description.split(', '))
          .filter((code) => code !== 'unavailable')
          .toSorted(),
      ]
    }),
  )

/** The codes by operation that are asked for. */
export const askedCodes = <Asked>(operations: Refused<Asked>) =>
  Object.fromEntries(
    Object.entries(operations).map(([operation, asked]) => [
      operation,
      [...new Set(Object.keys(asked).map(codeOf))].toSorted(),
    ]),
  )
