"""The five questions: does reinforcement add, does acting pay, do observations matter, which calls, is there a signal?"""
