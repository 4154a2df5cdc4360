import { z } from 'zod'
import type { SetupContext } from './section.ts'
import type { NamedTargets } from '../workflows/workflow-choices.ts'

/** The sections of a set-up file in which what others name is declared, and by which field. */
const declaredIn: Readonly<Record<keyof NamedTargets, readonly [section: string, field: string]>> = {
  campaign: ['campaigns', 'key'],
  product: ['products', 'slug'],
  endpoint_connection: ['endpoint_connections', 'name'],
  integration: ['custom_integrations', 'name'],
  stream: ['outreach_streams', 'slug'],
}

/** True where the same file declares the named thing. */
export const isDeclaredIn = (
  { declared }: Pick<SetupContext, 'declared'>,
  word: keyof NamedTargets,
  name: string,
): boolean => {
  const [section, field] = declaredIn[word]
  return namesIn(declared(section), field).includes(name.trim())
}

/** The names of what a section of the file declares. */
export const namesIn = (declared: readonly unknown[], field: string): readonly string[] =>
  declared.flatMap((each) => z.object({ [field]: z.string().trim() }).safeParse(each).data?.[field] ?? [])

/** Reports each name of a list that neither the file nor the organisation has. */
export type ReportUnknownNames = (
  setup: SetupContext,
  word: keyof NamedTargets,
  names: readonly string[],
  path: readonly PropertyKey[],
) => Promise<void>

export const makeReportUnknownNames =
  (targets: NamedTargets): ReportUnknownNames =>
  async (setup, word, names, path) => {
    for (const [index, name] of names.entries())
      if (!isDeclaredIn(setup, word, name) && !(await targets[word].exists(setup.organisation_id, name)))
        setup.report([...path, index], `there is no ${word} ${name}`)
  }
