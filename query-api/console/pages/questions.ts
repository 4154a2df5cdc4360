import { z } from 'zod'
import type { ApplicationRecord } from '#domain/applications/record.ts'
import type { Asked } from '../page.ts'
import { label, value as shownValue, type Choice } from '../show.ts'

const Release = z.object({
  data: z.object({
    journeys: z.array(
      z.object({
        id: z.string(),
        questions: z.array(
          z.object({
            key: z.string(),
            label: z.string(),
            answer_options: z
              .array(
                z.object({
                  value: z.string(),
                  label: z.string(),
                  terminal_reason_code: z.string().nullable(),
                  terminal_reason_message: z.string().nullable(),
                }),
              )
              .nullish(),
          }),
        ),
      }),
    ),
  }),
})

/** The questions that an application was asked, as the set-up has them. */
export type Questions = z.infer<typeof Release>['data']['journeys'][number]['questions']

/** Read for those who may see releases; for the others the keys of the answers say what they are. */
export const questionsOf = async (
  { me, organisation, now }: Pick<Asked, 'me' | 'organisation' | 'now'>,
  { release_id, journey_id }: Pick<ApplicationRecord, 'release_id' | 'journey_id'>,
): Promise<Questions> => {
  if (!me.roles.some((role) => role === 'underwriting' || role === 'auditor')) return []
  const { data } = await now(`/admin/v1/releases/${release_id}?organisation_id=${organisation?.id ?? ''}`, Release)
  return data.journeys.find(({ id }) => id === journey_id)?.questions ?? []
}

const questionAt = (questions: Questions, key: string) => questions.find((each) => each.key === key)

export const questionText = (questions: Questions, key: string): string =>
  questionAt(questions, key)?.label ?? label(key)

/** An answer, or several, in the words in which they were offered. */
export const answerText = (questions: Questions, key: string, given: unknown): string => {
  const options = questionAt(questions, key)?.answer_options ?? []
  const one = (each: unknown) => options.find(({ value }) => value === each)?.label ?? shownValue(each)
  return Array.isArray(given) ? given.map(one).join(', ') || 'none' : one(given)
}

/** The reasons for which answers end an application, by their codes. */
export const reasonsOf = (questions: Questions): readonly Choice[] => {
  const reasons = questions
    .flatMap(({ answer_options }) => answer_options ?? [])
    .flatMap(({ terminal_reason_code: code, terminal_reason_message: text }) =>
      code === null ? [] : [[code, text ?? label(code)] as const],
    )
  return [...new Map(reasons)]
}
