import type { Pipeline, ScoreRule } from '../pipeline/events.ts'
import { aboutOf } from './about.ts'
import type { Circumstances } from './commands.ts'
import type { FactValue, Grade, LeadEvent } from './events.ts'
import type { LeadRecord } from './record.ts'
import type { LeadState } from './state.ts'

type Scored = Pick<LeadRecord, 'facts' | 'activities' | 'source'>

const texts = (value: FactValue): readonly string[] => (Array.isArray(value) ? value : [value]).map(String)

const holds = ({ fact, equals, activity, source }: ScoreRule, lead: Scored): boolean => {
  const held = fact === null ? undefined : lead.facts[fact]
  if (fact !== null && held === undefined) return false
  if (held !== undefined && equals !== null && !texts(held).includes(equals)) return false
  if (activity !== null && !lead.activities[activity]) return false
  return source === null || lead.source === source
}

/** From 0 to 100: the points of all rules that hold. */
export const scoreOf = (lead: Scored, { score_rules }: Pick<Pipeline, 'score_rules'>): number => {
  const points = score_rules.filter((rule) => holds(rule, lead)).reduce((sum, rule) => sum + rule.points, 0)
  return Math.max(0, Math.min(100, points))
}

export const gradeOf = (score: number, { grades: { a, b, c, d } }: Pick<Pipeline, 'grades'>): Grade => {
  if (score >= a) return 'A'
  if (score >= b) return 'B'
  if (score >= c) return 'C'
  return score >= d ? 'D' : 'E'
}

export const scoreChange = (state: LeadState, circumstances: Circumstances): readonly LeadEvent[] => {
  const { record } = state
  const score = scoreOf(record, circumstances.pipeline)
  const grade = gradeOf(score, circumstances.pipeline)
  if (score === record.shown.score && grade === record.grade) return []
  return [{ type: 'LeadScored', ...aboutOf(state, circumstances), score, from_grade: record.grade, grade }]
}
